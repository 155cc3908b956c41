import { describe, expect, it } from '@jest/globals';
import { Magic } from '../magic-inputs.js';
import { Job, JobBoard } from './job-board.js';

let ids = 0;
const request = (words = '') => ({ requestId: `r${ids++}`, magic: Magic.read(words) });
const job = (words: string) =>
  new Job({ id: 'j', kind: 'song', label: 'a', facts: {}, createdMs: 1000, words });
const phases = (words: string, ...timesMs: number[]) =>
  timesMs.map((ms) => job(words).stateAt(1000 + ms).phase);

describe('a job', () => {
  it('waits, works and is done by the clock', () => {
    expect(phases('', 0, 500, 1000)).toEqual(['queued', 'working', 'done']);
    expect(phases('[[sandbox:task-ms=100]]', 0, 50, 100)).toEqual(['queued', 'working', 'done']);
    expect(phases('[[sandbox:task-ms=0]]', 0)).toEqual(['done']);
    expect(job('').stateAt(1420)).toMatchObject({ progress: 42 });
    expect(job('').stateAt(9000)).toMatchObject({ progress: 100 });
  });

  it('fails when told to, and succeeds later', () => {
    expect(phases('[[sandbox:task-fails]]', 999, 1000, 99_000)).toEqual([
      'working',
      'failed',
      'failed',
    ]);
    expect(phases('[[sandbox:task-fails]][[sandbox:late-success=500]]', 1400, 1500)).toEqual([
      'failed',
      'done',
    ]);
  });

  it('tells the state word and the progress it was given', () => {
    const odd = job('[[sandbox:task-state=PONDERING]] [[sandbox:task-progress=101]]');
    expect(odd.stateAt(1500)).toEqual({ phase: 'working', word: 'PONDERING', progress: 101 });
    expect(odd.stateAt(2000)).toEqual({ phase: 'done', word: undefined, progress: 100 });
  });
});

describe('the job board', () => {
  it('finds a job by its kind and id, until it is removed', () => {
    const board = new JobBoard();
    const { id } = board.accept(request(), { kind: 'song', label: 'a', facts: { n: 1 } });
    const found = board.find<{ n: number }>('song', id);
    expect(found?.facts).toEqual({ n: 1 });
    expect(board.find('video', id)).toBeUndefined();
    expect(board.find('song', 'unknown')).toBeUndefined();
    if (found) board.remove(found);
    expect(board.find('song', id)).toBeUndefined();
    expect(board.last(10)).toMatchObject([{ id, submissions: 1, isRemoved: true }]);
  });

  it('counts how often the same work was submitted', () => {
    const board = new JobBoard();
    for (const label of ['a', 'b', 'a']) {
      board.accept(request(), { kind: 'song', label, facts: null });
    }
    board.accept(request(), { kind: 'video', label: 'a', facts: null });
    const counts = board
      .last(10)
      .map(({ kind, label, submissions }) => `${kind} ${label} ${submissions}`);
    expect(counts.sort()).toEqual(['song a 2', 'song a 2', 'song b 1', 'video a 1']);
    expect(board.last(1)).toHaveLength(1);
  });
});

describe('magic inputs', () => {
  it.each([
    ['https://example.com/[[sandbox:task-ms=5]].mp3'],
    ['https://example.com/%5B%5Bsandbox:task-ms=5%5D%5D.mp3'],
    ['https://example.com/?note=%5b%5bsandbox%3Atask-ms%3D5%5d%5d'],
  ])('are read from %s', (url) => {
    expect(Magic.read(url).number('task-ms', 10)).toBe(5);
  });

  it('are written as they are read', () => {
    const words = Magic.read('a [[sandbox:hang]] b [[sandbox:status=418]]');
    const again = Magic.read(words.toString());
    expect(again.has('hang')).toBe(true);
    expect(again.text('status')).toBe('418');
  });
});
