import { endianness } from 'node:os';
import { type MicroUsd, usdOf } from '../common/money/micro-usd.js';
import type { Vector } from '../providers/ports/embedding.port.js';

const IS_BIG_ENDIAN = endianness() === 'BE';

/** The vectors of a call, as its caller wants them. */
export interface EmbeddingList {
  readonly vectors: readonly Vector[];
  readonly format: 'float' | 'base64';
  /** The model as the caller named it. */
  readonly model: string;
  readonly promptTokens: number;
  readonly chargedMicroUsd: MicroUsd;
}

/**
 * The response as JSON, vector by vector: the text of all 2,048 together would be a hundred megabytes (API: Embeddings
 * response).
 */
export function* embeddingsJson(list: EmbeddingList): Generator<string> {
  const { vectors, format, model, promptTokens, chargedMicroUsd } = list;
  const usage = {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens,
    cost: usdOf(chargedMicroUsd),
    cost_microusd: Number(chargedMicroUsd),
  };
  yield `{"object":"list","model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)},"data":[`;
  for (const [index, vector] of vectors.entries()) {
    const embedding = format === 'float' ? `[${vector.join(',')}]` : `"${base64Of(vector)}"`;
    const begin = index === 0 ? '' : ',';
    yield `${begin}{"object":"embedding","index":${index},"embedding":${embedding}}`;
  }
  yield ']}';
}

/** The 32 bits of each number, lowest byte first. */
function base64Of(vector: Vector): string {
  const { buffer } = Float32Array.from(vector);
  const bytes = Buffer.from(buffer);
  return (IS_BIG_ENDIAN ? bytes.swap32() : bytes).toString('base64');
}
