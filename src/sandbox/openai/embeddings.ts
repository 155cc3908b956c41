import { asArray, asRecord, parseJson } from '../http/json.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { Magic } from '../magic-inputs.js';
import { hashText } from '../media/seeded-random.js';
import { tokensOf } from '../chat/chat-reply.js';
import { refuse } from './openai-errors.js';

const MAX_INPUTS = 2_048;
/** How many numbers a vector has unless a request says so. */
const DIMENSIONS = 1_536;
/** Places that one word changes. */
const PLACES_PER_WORD = 4;

/** `POST /v1/embeddings`: texts with the same words have near vectors. */
export async function embeddings(exchange: SandboxExchange): Promise<void> {
  const request = asRecord(parseJson(exchange.body)) ?? refuse('We could not parse the JSON body.');
  const { input, model, dimensions = DIMENSIONS, encoding_format: format = 'float' } = request;
  if (typeof model !== 'string') refuse('Provide a model parameter.', 'model');
  const size = Number.isInteger(dimensions) ? Number(dimensions) : 0;
  if (size < 1 || size > DIMENSIONS) refuse(`dimensions must be 1 to ${DIMENSIONS}.`, 'dimensions');
  const words = inputsOf(input).map(wordsOf);
  const tokens = exchange.magic.has('zero-usage') ? 0 : words.flat().length;
  const data = words.map((of, index) => ({
    object: 'embedding',
    index,
    embedding: format === 'base64' ? base64Of(vectorOf(of, size)) : [...vectorOf(of, size)],
  }));
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  const told = exchange.magic.has('no-usage') ? {} : { usage };
  const answer = { object: 'list', data, model, ...told };
  await exchange.json(200, answer, { 'x-request-id': exchange.requestId });
}

function inputsOf(input: unknown): readonly unknown[] {
  const list = asArray(input);
  const inputs = list === undefined || typeof list[0] === 'number' ? [input] : list;
  if (inputs.length < 1 || inputs.length > MAX_INPUTS) refuse("Invalid 'input'.", 'input');
  return inputs;
}

/** The tokens of a text, or token ids as texts. */
function wordsOf(input: unknown): string[] {
  if (typeof input === 'string' && input !== '') return tokensOf(Magic.strip(input) || ' ');
  const ids = asArray(input)?.map(String) ?? [];
  return ids.length > 0 ? ids : refuse("'$.input' is invalid.", 'input');
}

/** A vector of length 1, in which each word has changed a few places. */
function vectorOf(words: readonly string[], dimensions: number): Float32Array {
  const sums = new Float32Array(dimensions);
  for (const word of words) {
    for (let place = 0; place < PLACES_PER_WORD; place++) {
      const hash = hashText(`${place} ${word.trim().toLowerCase()}`);
      const index = hash % dimensions;
      sums[index] = (sums[index] ?? 0) + (hash & 0x10000 ? 1 : -1);
    }
  }
  // Words may have cancelled each other.
  if (sums.every((sum) => sum === 0)) sums[0] = 1;
  const length = Math.hypot(...sums);
  return sums.map((sum) => sum / length);
}

function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer).toString('base64');
}
