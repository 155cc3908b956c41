import { SystemClock } from '../../common/time/clock.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { Magic } from '../magic-inputs.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { encodePng, promptPicture } from '../media/prompt-picture.js';
import { refuse } from './openai-errors.js';
import { tokensOf } from '../chat/chat-reply.js';

const MAX_PROMPT_CHARACTERS = 32_000;
const MAX_IMAGES = 10;
const AUTO_SIZE = '1024x1024';
const SIDE_STEP = 16;
const MAX_SIDE = 3840;
const MAX_RATIO = 3;
/** Pixels per output token. */
const PIXELS_PER_TOKEN = 1024;
const KNOWN_FIELDS = new Set(
  'prompt model n size quality background output_format output_compression moderation user'.split(
    ' ',
  ),
);

const clock = new SystemClock();

/** `POST /v1/images/generations`: pictures of the requested size that show their prompt. */
export async function imageGenerations(
  exchange: SandboxExchange,
  shelf: MediaShelf,
): Promise<void> {
  const { prompt, count, size, width, height } = readRequest(exchange.body);
  const shown = Magic.strip(prompt);
  const data: object[] = [];
  for (let index = 0; index < count && !exchange.magic.has('no-data'); index++) {
    const seed = index === 0 ? shown : `${shown} (${index + 1})`;
    const bytes = await encodePng(promptPicture(seed, width, height));
    data.push(
      exchange.magic.has('url')
        ? { url: urlOf(bytes, exchange, shelf) }
        : { b64_json: bytes.toString('base64') },
    );
  }
  const input = tokensOf(prompt).length;
  const output = Math.ceil((width * height) / PIXELS_PER_TOKEN) * data.length;
  await exchange.json(
    200,
    {
      created: clock.nowSeconds(),
      data,
      background: 'opaque',
      output_format: 'png',
      quality: 'medium',
      size,
      usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
    },
    { 'x-request-id': exchange.requestId },
  );
}

function urlOf(bytes: Buffer, exchange: SandboxExchange, shelf: MediaShelf): string {
  const name = shelf.put({ bytes, contentType: 'image/png' }, 'png');
  return shelf.urlOf(name, exchange.header('host'));
}

function readRequest(body: Buffer) {
  const request = asRecord(parseJson(body)) ?? refuse('We could not parse the JSON body.');
  const unknown = Object.keys(request).find((name) => !KNOWN_FIELDS.has(name));
  if (unknown !== undefined) refuse(`Unknown parameter: '${unknown}'.`, unknown);
  const { prompt } = request;
  if (typeof prompt !== 'string' || prompt.trim() === '') {
    return refuse("Missing required parameter: 'prompt'.", 'prompt');
  }
  if (prompt.length > MAX_PROMPT_CHARACTERS) refuse('The prompt is too long.', 'prompt');
  return { prompt, count: readCount(request), ...readSize(request) };
}

function readCount({ n = 1 }: JsonRecord): number {
  if (typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= MAX_IMAGES) return n;
  return refuse(`Invalid 'n': expected a whole number from 1 to ${MAX_IMAGES}.`, 'n');
}

function readSize({ size = 'auto' }: JsonRecord) {
  const text = size === 'auto' ? AUTO_SIZE : size;
  const [, wide, high] = /^(\d{2,4})x(\d{2,4})$/.exec(String(text)) ?? [];
  const [width, height] = [Number(wide), Number(high)];
  const isValid =
    [width, height].every((side) => side % SIDE_STEP === 0 && side > 0 && side <= MAX_SIDE) &&
    Math.max(width, height) <= MAX_RATIO * Math.min(width, height);
  if (!isValid) refuse("Invalid 'size'.", 'size');
  return { size: `${width}x${height}`, width, height };
}
