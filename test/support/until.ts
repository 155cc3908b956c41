import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 25;
/** How long {@link until} waits. A busy machine is slow, but not wrong. */
const PATIENCE_MS = 60_000;

/** Waits until the fact holds; throws when it still does not after a minute. */
export async function until(
  fact: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await fact())) {
    if (performance.now() > giveUpAt)
      throw new Error(`not so after ${patienceMs} ms: ${fact.toString()}`);
    await sleep(POLL_MS);
  }
}
