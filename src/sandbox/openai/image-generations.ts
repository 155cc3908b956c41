import { SystemClock } from '../../common/time/clock.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { Magic } from '../magic-inputs.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { readForm } from '../http/request-body.js';
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

const QUALITIES = ['auto', 'low', 'medium', 'high'];
const IMAGE_FIELDS = ['image', 'image[]'];
const MAX_SOURCES = 16;
/** The beginnings of PNG, JPEG and WebP files, as latin-1. */
const IMAGE = /^(?:\x89PNG\r\n|\xff\xd8\xff|RIFF[^]{4}WEBP)/;

const clock = new SystemClock();

/** `POST /v1/images/generations`: pictures of the requested size that show their prompt. */
export async function imageGenerations(
  exchange: SandboxExchange,
  shelf: MediaShelf,
): Promise<void> {
  await answerImages(exchange, shelf, readRequest(parsedBody(exchange.body)));
}

/** `POST /v1/images/edits`: as generations, of the images of a form. */
export async function imageEdits(exchange: SandboxExchange, shelf: MediaShelf): Promise<void> {
  const form = await readForm(exchange.body, exchange.header('content-type'));
  if (form === undefined) return refuse('We could not parse the form.');
  const images = form.parts.filter(([field]) => IMAGE_FIELDS.includes(field));
  if (images.length < 1 || images.length > MAX_SOURCES) {
    refuse(`Invalid 'image': expected 1 to ${MAX_SOURCES} files.`, 'image');
  }
  const other = form.parts.find(([field]) => ![...IMAGE_FIELDS, 'mask'].includes(field));
  if (other) refuse(`Unknown parameter: '${other[0]}'.`, other[0]);
  if (!form.parts.every(([, bytes]) => IMAGE.test(bytes.toString('latin1', 0, 12)))) {
    refuse('Invalid image file.', 'image');
  }
  const numbers = ['n', 'output_compression'];
  const fields = [...form.fields].map(([name, text]): [string, unknown] => [
    name,
    numbers.includes(name) ? Number(text) : text,
  ]);
  await answerImages(exchange, shelf, readRequest(Object.fromEntries(fields)));
}

async function answerImages(
  exchange: SandboxExchange,
  shelf: MediaShelf,
  { prompt, count, size, width, height, quality, format }: ImageRequest,
): Promise<void> {
  const shown = Magic.strip(prompt);
  const data: object[] = [];
  const made = Math.min(count, exchange.magic.number('images', MAX_IMAGES) ?? count);
  for (let index = 0; index < made && !exchange.magic.has('no-data'); index++) {
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
      output_format: format,
      quality,
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

function parsedBody(body: Buffer): JsonRecord {
  return asRecord(parseJson(body)) ?? refuse('We could not parse the JSON body.');
}

type ImageRequest = ReturnType<typeof readRequest>;

function readRequest(request: JsonRecord) {
  const unknown = Object.keys(request).find((name) => !KNOWN_FIELDS.has(name));
  if (unknown !== undefined) refuse(`Unknown parameter: '${unknown}'.`, unknown);
  const { prompt } = request;
  if (typeof prompt !== 'string' || prompt.trim() === '') {
    return refuse("Missing required parameter: 'prompt'.", 'prompt');
  }
  if (prompt.length > MAX_PROMPT_CHARACTERS) refuse('The prompt is too long.', 'prompt');
  const quality = readWord(request, 'quality', QUALITIES, 'medium');
  const format = readWord(request, 'output_format', ['png', 'jpeg', 'webp'], 'png');
  readWord(request, 'background', ['auto', 'transparent', 'opaque'], 'auto');
  return { prompt, count: readCount(request), quality, format, ...readSize(request) };
}

function readWord(
  request: JsonRecord,
  name: string,
  words: readonly string[],
  usual: string,
): string {
  const { [name]: word = usual } = request;
  return words.find((known) => known === word) ?? refuse(`Invalid '${name}'.`, name);
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
