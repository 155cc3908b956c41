import { isJsonObject } from '../json-object.js';
import { isCleanJson } from './clean-json.js';

const MAX_METADATA_PAIRS = 16;
const MAX_METADATA_KEY = 64;
const MAX_METADATA_VALUE = 512;

/** Up to a fixed number of short texts by name. */
export function isMetadata(value: unknown): boolean {
  if (!isJsonObject(value) || !isCleanJson(value)) return false;
  const pairs = Object.entries(value);
  return (
    pairs.length <= MAX_METADATA_PAIRS &&
    pairs.every(
      ([key, text]) =>
        key.length <= MAX_METADATA_KEY &&
        typeof text === 'string' &&
        text.length <= MAX_METADATA_VALUE,
    )
  );
}
