import { expect } from '@jest/globals';
import { type Answer, postJson } from './http-answer.js';

export const EMBEDDINGS_PATH = '/v1/embeddings';
/** The model of the sandbox: 20,000 micro-USD per million tokens. */
export const EMBED = { model: 'gen-embed-demo', input: 'A tower by the sea' } as const;

/** What an embeddings call answers. */
export interface EmbeddingsAnswer {
  readonly object: string;
  readonly model: string;
  readonly data: readonly { object: string; index: number; embedding: number[] | string }[];
  readonly usage: Readonly<Record<string, number>>;
}

/** Asks for vectors: {@link EMBED} with the given fields. */
export function embed(
  gateway: { readonly url: string },
  headers: Record<string, string>,
  fields: object = {},
): Promise<Answer> {
  return postJson(gateway.url + EMBEDDINGS_PATH, headers, { ...EMBED, ...fields });
}

/** The vectors of a good answer, in whatever form. Proves that their places are in order. */
export function vectorsOf(answer: Answer): number[][] {
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  const { object, data } = answer.json as EmbeddingsAnswer;
  expect(object).toBe('list');
  expect(data.map(({ index }) => index)).toEqual(data.map((_item, index) => index));
  return data.map(({ embedding }) =>
    typeof embedding === 'string' ? numbersOf(embedding) : embedding,
  );
}

/** A vector as a vendor writes it in base64. */
export function base64Of(numbers: readonly number[]): string {
  return Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
}

/** The 32-bit numbers, lowest byte first, of a base64 text. */
function numbersOf(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
}
