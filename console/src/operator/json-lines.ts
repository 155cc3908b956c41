/** A text in JSON, or what is wrong in it. */
export interface JsonText {
  readonly value?: unknown;
  readonly fault?: string;
}

const PLACE = /line (\d+) column (\d+)/;
const POSITION = /position (\d+)/;
const AT_END = /end of (JSON input|data)|Unterminated/;
/** Some engines name only the text around the place. */
const UNPLACED = 'Unexpected token';
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The value of a text in JSON, or the line in which it is broken. */
export function readJsonText(text: string): JsonText {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const line = brokenLine(messageOf(error), text);
    return { fault: `${line === undefined ? '' : `Line ${line}: `}This is no JSON.` };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

/** Browsers tell the place in different ways; undefined where one tells none. */
function brokenLine(message: string, text: string): number | undefined {
  const [, line] = PLACE.exec(message) ?? [];
  if (line !== undefined) return Number(line);
  const [, position] = POSITION.exec(message) ?? [];
  if (position !== undefined) return lineAt(text, Number(position));
  if (AT_END.test(message)) return lineAt(text, text.trimEnd().length);
  return message.startsWith(UNPLACED) ? firstBrokenLine(text.split('\n')) : undefined;
}

/** The first line with which the text above it is broken otherwise than by its end. */
function firstBrokenLine(lines: readonly string[]): number {
  let [whole, broken] = [0, lines.length];
  while (broken - whole > 1) {
    const middle = (whole + broken) >> 1;
    if (isBegun(lines.slice(0, middle).join('\n'))) whole = middle;
    else broken = middle;
  }
  return broken;
}

/** Whether the text could be the beginning of a text in JSON. */
function isBegun(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = messageOf(error);
    const [, position] = POSITION.exec(message) ?? [];
    return AT_END.test(message) || Number(position) >= text.trimEnd().length;
  }
}

const lineAt = (text: string, position: number): number => lineBreaks(text, 0, position) + 1;

function lineBreaks(text: string, from: number, to: number): number {
  return text.slice(from, to).split('\n').length - 1;
}

/** A token, and the line on which it is. */
interface Token {
  readonly text: string;
  readonly line: number;
}
type Lines = Map<string, number>;

/** The line on which each value of a text begins, by its path: `models.0.price`. The text is well-formed. */
export function linesOfPaths(text: string): ReadonlyMap<string, number> {
  const lines: Lines = new Map();
  readValue(tokensOf(text).reverse(), '', lines);
  return lines;
}

function tokensOf(text: string): Token[] {
  let [line, seen] = [1, 0];
  return [...text.matchAll(TOKEN)].map(({ 0: token, index }) => {
    line += lineBreaks(text, seen, index);
    seen = index;
    return { text: token, line };
  });
}

/** Takes a value off the tokens that are left, the last of which is the next one. */
function readValue(left: Token[], path: string, lines: Lines): void {
  const token = left.pop();
  if (token === undefined) return;
  if (!lines.has(path)) lines.set(path, token.line);
  if (token.text === '[') {
    for (let at = 0; !isPast(left, ']'); at += 1) readItem(left, within(path, String(at)), lines);
  }
  if (token.text === '{') {
    while (!isPast(left, '}')) {
      const name = within(path, nameOf(left.at(-1)?.text ?? ''));
      lines.set(name, left.pop()?.line ?? token.line);
      isPast(left, ':');
      readItem(left, name, lines);
    }
  }
}

function readItem(left: Token[], path: string, lines: Lines): void {
  readValue(left, path, lines);
  if (left.at(-1)?.text === ',') left.pop();
}

/** Whether the next token is this one, which is then taken off, or none is left. */
function isPast(left: Token[], text: string): boolean {
  if (left.length > 0 && left.at(-1)?.text !== text) return false;
  left.pop();
  return true;
}

const within = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function nameOf(token: string): string {
  const { value } = readJsonText(token);
  return typeof value === 'string' ? value : token;
}
