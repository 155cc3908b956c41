import { describe, expect, it } from '@jest/globals';
import { groupOver, itemOf, numbers, PATIENCE } from '../../../test/support/number-batcher.js';
import { MAX_QUEUED, MAX_QUEUED_PER_ACCOUNT, NotCommitted } from './execution-batcher.js';

const END = { ...PATIENCE, isEnd: true };

/** A group whose statements wait until `open` is called, with one statement under way. */
function groupWithGate() {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const { group } = groupOver(async (items) => {
    await gate;
    return items.map(({ n }) => n * 2);
  });
  const underWay = group.submit(itemOf('first', 0), PATIENCE);
  return { group, underWay, open };
}

describe('the batcher of the ledger with full queues', () => {
  it('refuses starts of an account with too many, but accepts its ends and other accounts', async () => {
    const { group, open } = groupWithGate();
    const waiting = numbers(MAX_QUEUED_PER_ACCOUNT).map((n) =>
      group.submit(itemOf('a', n), PATIENCE),
    );
    const refused = group.submit(itemOf('a', 1), PATIENCE);
    await expect(refused).rejects.toBeInstanceOf(NotCommitted);
    await expect(refused).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 });
    const others = [group.submit(itemOf('a', 7), END), group.submit(itemOf('b', 8), PATIENCE)];
    open();
    expect(await Promise.all(others)).toEqual([14, 16]);
    expect(await Promise.all(waiting)).toHaveLength(MAX_QUEUED_PER_ACCOUNT);
  });

  it('refuses starts of every account when the total limit is reached, until some are committed', async () => {
    const { group, underWay, open } = groupWithGate();
    const accounts = MAX_QUEUED / MAX_QUEUED_PER_ACCOUNT;
    const waiting = numbers(MAX_QUEUED).map((n) =>
      group.submit(itemOf(`${n % accounts}`, n), PATIENCE),
    );
    await expect(group.submit(itemOf('b', 1), PATIENCE)).rejects.toBeInstanceOf(NotCommitted);
    const end = group.submit(itemOf('b', 7), END);
    open();
    expect(await end).toBe(14);
    await Promise.all([underWay, ...waiting]);
    expect(await group.submit(itemOf('b', 8), PATIENCE)).toBe(16);
  });
});
