/** Characters of one slice. Even the worst text of this length is counted within about 50 milliseconds. */
export const SLICE_CHARS = 8_192;

/**
 * The texts in slices of bounded size: small texts together, long ones in parts. A part ends before white space if
 * possible, because tokens begin there. Any other cut may cost a token or two.
 */
export function splitText(texts: readonly string[]): string[][] {
  const slices: string[][] = [];
  let slice: string[] = [];
  let remaining = SLICE_CHARS;
  for (const part of texts.flatMap(partsOf)) {
    if (part.length > remaining) {
      slices.push(slice);
      slice = [];
      remaining = SLICE_CHARS;
    }
    slice.push(part);
    remaining -= part.length;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
}

/** An upper bound of the tokens in the texts: one for each byte. */
export function mostTokensOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function partsOf(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  while (text.length - from > SLICE_CHARS) {
    const end = endOfPart(text, from);
    parts.push(text.slice(from, end));
    from = end;
  }
  parts.push(text.slice(from));
  return parts;
}

/** White space is searched in the last eighth only. */
function endOfPart(text: string, from: number): number {
  const limit = from + SLICE_CHARS;
  for (let end = limit; end > limit - SLICE_CHARS / 8; end -= 1) {
    if (text[end] === ' ' && text[end - 1] !== ' ') return end;
  }
  // A pair of surrogates is not cut.
  const code = text.charCodeAt(limit);
  return code >= 0xdc00 && code <= 0xdfff ? limit - 1 : limit;
}
