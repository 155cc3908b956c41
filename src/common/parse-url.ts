/**
 * The URL of a text, or undefined. `URL.canParse` is not used anywhere: on Node 20, once its call is compiled, it denies
 * every URL with a letter of Latin-1 (`http://bücher.example/`).
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** A URL or a path without the slashes at its end. */
export function trimTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
