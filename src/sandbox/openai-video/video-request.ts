import { asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { refuse } from '../openai/refusal.js';
import { parseUrl } from '../../common/parse-url.js';

const KNOWN_FIELDS = new Set('model prompt seconds size aspect_ratio image_urls'.split(' '));
const MAX_PROMPT_CHARACTERS = 32_000;
const MAX_SECONDS = 60;
/** The longer side of a video that was requested by aspect ratio alone. */
const LONG_SIDE = 640;
const DEFAULT_SIZE = '1280x720';

/** The requested video. */
export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  /** As it was sent. */
  readonly seconds: string;
  readonly width: number;
  readonly height: number;
}

/** Reads the body of a submission; refuses what the vendor would refuse. */
export function readVideoRequest(body: Buffer): VideoRequest {
  const request = asRecord(parseJson(body)) ?? refuse('We could not parse the JSON body.');
  const unknown = Object.keys(request).find((name) => !KNOWN_FIELDS.has(name));
  if (unknown !== undefined) refuse(`Unknown parameter: '${unknown}'.`, unknown);
  const prompt = textOf(request, 'prompt');
  if (prompt.length > MAX_PROMPT_CHARACTERS) refuse('The prompt is too long.', 'prompt');
  const seconds = textOf(request, 'seconds');
  if (!/^[1-9]\d?$/.test(seconds) || Number(seconds) > MAX_SECONDS) {
    refuse(`Invalid 'seconds': expected 1 to ${MAX_SECONDS}.`, 'seconds');
  }
  checkImages(request);
  return { model: textOf(request, 'model'), prompt, seconds, ...pixelsOf(request) };
}

function textOf(request: JsonRecord, name: string): string {
  const value = request[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  return refuse(`Missing required parameter: '${name}'.`, name);
}

function checkImages({ image_urls: urls = [] }: JsonRecord): void {
  const isList = Array.isArray(urls) && urls.every((url) => parseUrl(String(url)));
  if (!isList) refuse("Invalid 'image_urls'.", 'image_urls');
}

function pixelsOf({ size = DEFAULT_SIZE, aspect_ratio: ratio }: JsonRecord) {
  if (ratio === undefined) return sidesOf(size, /^(\d{1,5})x(\d{1,5})$/, 'size');
  const { width, height } = sidesOf(ratio, /^(\d{1,2}):(\d{1,2})$/, 'aspect_ratio');
  const scale = LONG_SIDE / Math.max(width, height);
  // Both sides are even numbers of pixels, as most players require.
  const side = (share: number) => Math.max(2, Math.round((share * scale) / 2) * 2);
  return { width: side(width), height: side(height) };
}

function sidesOf(value: unknown, pattern: RegExp, name: string) {
  const [, width, height] = pattern.exec(String(value)) ?? [];
  const sides = { width: Number(width), height: Number(height) };
  return sides.width > 0 && sides.height > 0 ? sides : refuse(`Invalid '${name}'.`, name);
}
