import { describe, expect, it } from '@jest/globals';
import { RoundRobinQueue } from './round-robin-queue.js';

function waiting(...names: string[]): RoundRobinQueue<string> {
  const turns = new RoundRobinQueue<string>();
  for (const name of names) turns.add(name.charAt(0), name);
  return turns;
}

const rest = (turns: RoundRobinQueue<string>): string[] => {
  const taken: string[] = [];
  for (;;) {
    const item = turns.next();
    if (item === undefined) return taken;
    taken.push(item);
  }
};

describe('turns of accounts', () => {
  it('give each account one item at a time, in the order of its arrival', () => {
    expect(rest(waiting('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual([
      'a1',
      'b1',
      'c1',
      'a2',
      'c2',
      'a3',
    ]);
  });

  it('put an account that comes again behind those that wait', () => {
    const turns = waiting('a1', 'b1');
    expect(turns.next()).toBe('a1');
    turns.add('a', 'a2');
    expect(turns.items).toEqual(['b1', 'a2']);
    expect(rest(turns)).toEqual(['b1', 'a2']);
    expect(turns.isEmpty).toBe(true);
  });

  it('forget what is removed, and leave no empty account', () => {
    const turns = waiting('a1', 'b1', 'b2');
    turns.remove('a', 'a1');
    turns.remove('b', 'b1');
    turns.remove('b', 'unknown');
    turns.remove('c', 'c1');
    expect(rest(turns)).toEqual(['b2']);
  });
});
