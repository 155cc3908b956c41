import { parentPort } from 'node:worker_threads';
import { countTokens } from './count-tokens.js';

/** Texts to be counted together. */
export interface CountRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** The tokens of all texts of the request with that id. */
export interface CountAnswer {
  readonly id: number;
  readonly tokens: number;
}

// A fault here is left to crash the worker: the counter rejects what waits and starts another.
parentPort?.on('message', ({ id, texts }: CountRequest) => {
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  parentPort?.postMessage({ id, tokens } satisfies CountAnswer);
});
