import { parentPort } from 'node:worker_threads';
import { countTokens } from './count-tokens.js';

/** Texts of one slice, to be counted together. */
export interface CountRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** The tokens of the slice with that id. */
export interface CountAnswer {
  readonly id: number;
  readonly tokens: number;
}

// A fault here is left to crash the thread: the counter estimates what waits and starts another.
parentPort?.on('message', ({ id, texts }: CountRequest) => {
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  parentPort?.postMessage({ id, tokens } satisfies CountAnswer);
});
