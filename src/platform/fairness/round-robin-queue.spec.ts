import { describe, expect, it } from '@jest/globals';
import { RoundRobinQueue } from './round-robin-queue.js';

function waiting(...names: string[]): RoundRobinQueue<string> {
  const queue = new RoundRobinQueue<string>();
  for (const name of names) queue.add(name.charAt(0), name);
  return queue;
}

const rest = (queue: RoundRobinQueue<string>): string[] => {
  const items: string[] = [];
  for (;;) {
    const item = queue.next();
    if (item === undefined) return items;
    items.push(item);
  }
};

describe('RoundRobinQueue', () => {
  it('returns one item of each account at a time, in the order of arrival', () => {
    expect(rest(waiting('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual([
      'a1',
      'b1',
      'c1',
      'a2',
      'c2',
      'a3',
    ]);
  });

  it('puts an account that adds an item behind the waiting accounts', () => {
    const queue = waiting('a1', 'b1');
    expect(queue.next()).toBe('a1');
    queue.add('a', 'a2');
    expect(queue.items).toEqual(['b1', 'a2']);
    expect(rest(queue)).toEqual(['b1', 'a2']);
    expect(queue.isEmpty).toBe(true);
  });

  it('drops removed items and empty accounts', () => {
    const queue = waiting('a1', 'b1', 'b2');
    queue.remove('a', 'a1');
    queue.remove('b', 'b1');
    queue.remove('b', 'unknown');
    queue.remove('c', 'c1');
    expect(rest(queue)).toEqual(['b2']);
  });
});
