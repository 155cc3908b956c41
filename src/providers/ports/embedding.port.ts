import type { AttemptContext } from './attempt.js';

/** Most numbers of one vector; known models have up to 12,288. */
export const MAX_DIMENSIONS = 16_384;

/** One text, or its token ids in the vocabulary of the model. */
export type EmbeddingInput = string | readonly number[];

/**
 * The numbers of one input: 32-bit ones that the provider sent as bytes, or those of its JSON as they were written. All are
 * finite.
 */
export type Vector = Float32Array | Float64Array;

/** Inputs of one kind, each of which becomes a vector. */
export interface EmbeddingsCommand {
  readonly inputs: readonly EmbeddingInput[];
  /** How many numbers each vector shall have; absent = as many as the model makes. */
  readonly dimensions?: number | undefined;
  /** How many numbers a vector may have, inclusive. A vector of another length is a failure of the provider. */
  readonly length: { readonly min: number; readonly max: number };
  /** The caller's own name for the person who asks. */
  readonly user?: string | undefined;
}

/** The vectors, one for each input in its order, all equally long. */
export interface EmbeddingsResult {
  readonly vectors: readonly Vector[];
  /** Tokens of all inputs together as the provider counted them; null if it reports none. */
  readonly promptTokens: number | null;
  readonly providerRequestId: string | null;
}

/** Embeddings (API: POST /v1/embeddings). */
export interface EmbeddingPort {
  embed(command: EmbeddingsCommand, context: AttemptContext): Promise<EmbeddingsResult>;
}
