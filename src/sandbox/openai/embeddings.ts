import { asArray, asRecord, parseJson } from '../http/json.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { DIMENSIONS, wordsOfText, wordVector } from '../embeddings/word-vector.js';
import { refuse } from './openai-errors.js';

const MAX_INPUTS = 2_048;

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
    embedding: format === 'base64' ? base64Of(wordVector(of, size)) : [...wordVector(of, size)],
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
  if (typeof input === 'string' && input !== '') return wordsOfText(input);
  const ids = asArray(input)?.map(String) ?? [];
  return ids.length > 0 ? ids : refuse("'$.input' is invalid.", 'input');
}

function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer).toString('base64');
}
