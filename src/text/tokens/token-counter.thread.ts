import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { answerRequests } from '../../platform/fairness/worker-thread.js';
import { countTokens } from './count-tokens.js';

// Loading the table leaves more garbage than the table itself takes.
forceGc();

// The texts of one slice are counted together. An error ends the thread; the text is then estimated.
answerRequests((texts: readonly string[]) =>
  texts.reduce((sum, text) => sum + countTokens(text), 0),
);

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
