import { parentPort } from 'node:worker_threads';
import { forceGc } from './force-gc.js';
import { countTokens } from './count-tokens.js';

/** Texts of one slice, which are counted together. */
export interface CountRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** The tokens of the slice with that id. */
export interface CountResult {
  readonly id: number;
  readonly tokens: number;
}

// Loading the table leaves more garbage than the table itself takes.
forceGc();

// An error here ends the thread. The counter then estimates the waiting texts and starts another thread.
parentPort?.on('message', ({ id, texts }: CountRequest) => {
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  parentPort?.postMessage({ id, tokens } satisfies CountResult);
});
