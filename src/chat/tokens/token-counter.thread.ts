import { parentPort } from 'node:worker_threads';
import { countTokens } from './count-tokens.js';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Collects the garbage of this thread and returns the memory to the operating system. Use it once after loading: it
 * takes as long as a full collection.
 */
function forceGc(): void {
  // V8 adds the function `gc` only to contexts that are created while the flag is set.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
