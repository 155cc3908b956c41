import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderImage as Image } from '../ports/image.port.js';

/** Lists of images, as OpenAI and as other vendors behind its protocol name them. */
const LISTS = ['data', 'images'];
/**
 * The fields of an item that may contain the image: bytes in base64, a data URI or a web URL, whatever the field's
 * name.
 */
const FIELDS = ['b64_json', 'url', 'image_url'];
/** A data URI names its type and parameters before the comma. */
const MAX_TYPE_CHARACTERS = 200;
const WEB_URL = /^https?:\/\//i;
const BASE64_URI = /^data:[^,]*;\s*base64$/i;
const DATA_URI = /^data:/i;

/** The first images of a response, at most `most`, of the first list that has any: a second one repeats them. */
export function generatedImagesOf(response: JsonObject, most: number): Image[] {
  for (const name of LISTS) {
    const list: unknown = response[name];
    const images = Array.isArray(list) ? list.flatMap((item: unknown) => imageAt(item) ?? []) : [];
    if (images.length > 0) return images.slice(0, most);
  }
  return [];
}

const imageAt = (item: unknown): Image | undefined =>
  isJsonObject(item) ? imageIn(item) : imageOf(item);

function imageIn(item: JsonObject): Image | undefined {
  for (const name of FIELDS) {
    const value = item[name];
    const image = imageOf(isJsonObject(value) ? value.url : value);
    if (image) return image;
  }
  return undefined;
}

/** A text as an image: a web URL, or bytes with or without the beginning of a data URI. */
function imageOf(value: unknown): Image | undefined {
  if (typeof value !== 'string') return undefined;
  const begin = value.slice(0, MAX_TYPE_CHARACTERS).trimStart();
  if (begin === '') return undefined;
  if (WEB_URL.test(begin)) return { url: value.trim() };
  if (!DATA_URI.test(begin)) return { base64: value };
  const comma = value.indexOf(',');
  if (!BASE64_URI.test(value.slice(0, comma).trim())) return undefined;
  const base64 = value.slice(comma + 1);
  return { base64: base64.includes('%') ? decoded(base64) : base64 };
}

/** A URI may encode the base64 characters as `%2B`, `%2F` and `%3D`. A text that cannot be decoded is no image. */
function decoded(base64: string): string {
  try {
    return decodeURIComponent(base64);
  } catch {
    return '';
  }
}
