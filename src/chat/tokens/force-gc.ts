import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Collects the garbage of this thread and returns the memory to the operating system. Use it once after loading: it
 * takes as long as a full collection.
 */
export function forceGc(): void {
  // V8 adds the function `gc` only to contexts that are created while the flag is set.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
