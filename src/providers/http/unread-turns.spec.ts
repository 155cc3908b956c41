import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { FREE_BYTES, MAX_LOOKS_HELD, MAX_READ_ON, UnreadTurns } from './unread-turns.js';

const FAST = FREE_BYTES + 1;
const LOOK_MS = 250;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** An answer that notes whether it is held. */
class Answer {
  isHeld = false;
  private readonly unread;

  constructor(turns: UnreadTurns, accountId = 'a') {
    this.unread = turns.begin(accountId, (isHeld) => (this.isHeld = isHeld));
  }

  send(bytes: number): void {
    if (!this.isHeld) this.unread.take(bytes);
  }

  end(): void {
    this.unread.end();
    // The next one begins outside of the work of this one.
    jest.advanceTimersByTime(0);
  }
}

const answersOf = (turns: UnreadTurns, count: number, accountId?: string): Answer[] =>
  Array.from({ length: count }, () => new Answer(turns, accountId));
const heldOf = (answers: readonly Answer[]) => answers.filter(({ isHeld }) => isHeld).length;
const busy = () => new UnreadTurns(() => true);
/** Each sends at full speed for so many looks. */
function sendAll(answers: readonly Answer[], looks = 1): void {
  for (let look = 0; look < looks; look += 1) {
    for (const answer of answers) answer.send(FAST);
    jest.advanceTimersByTime(LOOK_MS);
  }
}

it('as many answers are read at full speed as have a turn; the others are held until one ends', () => {
  const answers = answersOf(busy(), MAX_READ_ON + 3);
  sendAll(answers);
  expect(heldOf(answers)).toBe(3);
  answers[0]!.end();
  expect(answers.map(({ isHeld }) => isHeld).slice(-3)).toEqual([false, true, true]);
});

it('a short or slow answer is never held, whoever has the turns', () => {
  const turns = busy();
  const slow = new Answer(turns);
  const answers = answersOf(turns, MAX_READ_ON + 3);
  for (let look = 0; look < 5; look += 1) {
    slow.send(FREE_BYTES);
    sendAll(answers);
    expect(slow.isHeld).toBe(false);
  }
});

it('an answer that stalls gives its turn to the next, and is read on when it sends again', () => {
  const answers = answersOf(busy(), MAX_READ_ON + 1);
  sendAll(answers);
  const [stalled, ...others] = answers;
  sendAll(others, 1);
  expect(heldOf(answers)).toBe(0);
  stalled!.send(1);
  expect(stalled!.isHeld).toBe(false);
});

it('a turn lasts 5 s while others wait, and then goes to the next', () => {
  const answers = answersOf(busy(), MAX_READ_ON + 1);
  sendAll(answers, 19);
  expect(answers.at(-1)!.isHeld).toBe(true);
  sendAll(answers, 1);
  expect(answers.at(-1)!.isHeld).toBe(false);
  expect(heldOf(answers)).toBe(1);
});

it('accounts have turns alternately, however many answers one of them has', () => {
  const turns = busy();
  const crafty = answersOf(turns, MAX_READ_ON + 50, 'crafty');
  sendAll(crafty);
  const victim = new Answer(turns, 'victim');
  victim.send(FAST);
  expect(victim.isHeld).toBe(true);
  crafty[0]!.end();
  crafty[1]!.end();
  expect(victim.isHeld).toBe(false);
});

it('while the process has time to spare, nobody waits for long', () => {
  const answers = answersOf(new UnreadTurns(() => false), 8 * MAX_READ_ON);
  for (const answer of answers) answer.send(FAST);
  expect(heldOf(answers)).toBe(7 * MAX_READ_ON);
  sendAll(answers, 7);
  expect(heldOf(answers)).toBe(0);
});

it('an answer that ends while it is held is forgotten, and no timer is left', () => {
  const answers = answersOf(busy(), MAX_READ_ON + 2);
  sendAll(answers);
  answers.at(-2)!.end();
  answers[0]!.end();
  expect(answers.map(({ isHeld }) => isHeld).slice(-2)).toEqual([true, false]);
  for (const answer of answers) answer.end();
  expect(jest.getTimerCount()).toBe(0);
});

it('no answer is held longer than 10 s in all, however many wait before it and however long it is', () => {
  const answers = answersOf(busy(), 2 * MAX_READ_ON);
  const held = answers.map(() => 0);
  for (let look = 0; look < 12 * MAX_LOOKS_HELD; look += 1) {
    sendAll(answers);
    answers.forEach(({ isHeld }, index) => (held[index]! += Number(isHeld)));
  }
  expect(Math.min(...held)).toBeGreaterThan(0);
  expect(Math.max(...held) * LOOK_MS).toBeLessThanOrEqual(10_000);
});

it('nothing is held from the moment when the process begins to end', () => {
  const turns = busy();
  const answers = answersOf(turns, 3 * MAX_READ_ON);
  sendAll(answers);
  expect(heldOf(answers)).toBe(2 * MAX_READ_ON);
  turns.holdNone();
  expect(heldOf(answers)).toBe(0);
  const later = answersOf(turns, MAX_READ_ON);
  sendAll([...answers, ...later], 30);
  expect(heldOf([...answers, ...later])).toBe(0);
});
