import { setTimeout as sleep } from 'node:timers/promises';

/** How often another account calls. */
const EVERY_MS = 50;

/** Times of calls that are made one after the other, each at its time or when the one before has ended, in ms. */
export async function callTimes(
  seconds: number,
  call: () => Promise<Response>,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (const endAt = performance.now() + seconds * 1_000; performance.now() < endAt;) {
    const startedAt = performance.now();
    const answer = await call();
    const text = await answer.text();
    if (!answer.ok) throw new Error(`a call of another account: ${answer.status} ${text}`);
    const tookMs = performance.now() - startedAt;
    times.push(tookMs);
    await sleep(Math.max(0, EVERY_MS - tookMs));
  }
  return times;
}
