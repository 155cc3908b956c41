import { createHash } from 'node:crypto';
import { setImmediate as yieldLoop } from 'node:timers/promises';

/** Characters that are hashed in one turn of the event loop; about a millisecond. */
const SLICE_CHARACTERS = 65_536;

/**
 * SHA-256 of the canonical JSON of a parsed value (`canonicalJson`), in base64url. A large value is hashed in slices, so that the
 * event loop is not blocked.
 */
export async function canonicalDigest(value: unknown): Promise<string> {
  const hash = createHash('sha256');
  let slice = '';
  for (const piece of piecesOf(value)) {
    slice += piece;
    if (slice.length < SLICE_CHARACTERS) continue;
    hash.update(slice);
    slice = '';
    await yieldLoop();
  }
  return hash.update(slice).digest('base64url');
}

/** Canonical JSON in pieces, of at most six times {@link SLICE_CHARACTERS} where every character is escaped. */
function* piecesOf(value: unknown): Generator<string, void> {
  if (typeof value === 'string') yield* piecesOfText(value);
  else if (Array.isArray(value)) {
    let before = '[';
    for (const item of value) {
      yield before;
      yield* piecesOf(item);
      before = ',';
    }
    yield value.length === 0 ? '[]' : ']';
  } else if (typeof value === 'object' && value !== null) {
    const names = Object.keys(value).filter((name) => fieldOf(value, name) !== undefined);
    let before = '{';
    for (const name of names.sort()) {
      yield before;
      yield* piecesOfText(name);
      yield ':';
      yield* piecesOf(fieldOf(value, name));
      before = ',';
    }
    yield names.length === 0 ? '{}' : '}';
  } else yield JSON.stringify(value);
}

const fieldOf = (value: object, name: string): unknown => value[name as keyof object];

/** A text is cut between characters, never within one of two code units. */
function* piecesOfText(text: string): Generator<string, void> {
  if (text.length <= SLICE_CHARACTERS) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  for (let from = 0; from < text.length;) {
    const to = Math.min(from + SLICE_CHARACTERS, text.length);
    const end = to < text.length && isHighSurrogate(text, to - 1) ? to - 1 : to;
    yield JSON.stringify(text.slice(from, end)).slice(1, -1);
    from = end;
  }
  yield '"';
}

const isHighSurrogate = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xd800;
