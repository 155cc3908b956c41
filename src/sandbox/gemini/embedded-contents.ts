import { DIMENSIONS, wordsOfText, wordVector } from '../embeddings/word-vector.js';
import { asArray, asRecord, parseJson } from '../http/json.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { refuseContent } from './gemini-errors.js';

/** Texts of one request. */
const MAX_REQUESTS = 100;

/** `batchEmbedContents`: a vector for each text. Its usage is that of the texts, unless a magic input leaves it out. */
export async function batchEmbedContents(exchange: SandboxExchange): Promise<void> {
  const requests = asArray(asRecord(parseJson(exchange.body))?.requests) ?? [];
  if (requests.length === 0 || requests.length > MAX_REQUESTS) {
    refuseContent(`At most ${MAX_REQUESTS} requests can be in one batch`, 'requests');
  }
  const words = requests.map((request, index) => wordsOf(request, `requests[${index}].content`));
  const embeddings = words.map((of, index) => ({
    values: [...wordVector(of, sizeOf(requests[index], `requests[${index}]`))],
  }));
  const promptTokenCount = exchange.magic.has('zero-usage') ? 0 : words.flat().length;
  const usage = exchange.magic.has('no-usage') ? {} : { usageMetadata: { promptTokenCount } };
  await exchange.json(200, { embeddings, ...usage });
}

function wordsOf(request: unknown, path: string): string[] {
  const parts = asArray(asRecord(asRecord(request)?.content)?.parts) ?? [];
  const text = parts.map((part) => asRecord(part)?.text).join('');
  return text === '' ? refuseContent('content is empty', path) : wordsOfText(text);
}

function sizeOf(request: unknown, path: string): number {
  const size = Number(asRecord(request)?.outputDimensionality ?? DIMENSIONS);
  if (Number.isInteger(size) && size >= 1 && size <= DIMENSIONS) return size;
  return refuseContent('output dimensionality is out of range', `${path}.outputDimensionality`);
}
