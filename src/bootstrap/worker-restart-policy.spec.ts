import { describe, expect, it } from '@jest/globals';
import { WorkerRestartPolicy } from './worker-restart-policy.js';

const SERVED = { wasReady: true, livedMs: 5_000 };
const STILLBORN = { wasReady: false, livedMs: 5_000 };

describe('WorkerRestartPolicy', () => {
  it('replaces a worker that served for ever, ever more slowly, within ten seconds', () => {
    const replacement = new WorkerRestartPolicy();
    const waits = Array.from({ length: 100 }, () => replacement.after(SERVED, 0));
    expect(waits.slice(0, 9)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    expect(new Set(waits.slice(8))).toEqual(new Set([10_000]));
  });

  it('begins with the first wait again after a worker that lived for a minute', () => {
    const replacement = new WorkerRestartPolicy();
    for (let count = 0; count < 5; count++) replacement.after(SERVED, 1);
    expect(replacement.after({ wasReady: true, livedMs: 60_000 }, 1)).toBe(100);
  });

  it('gives up after five workers that never became ready', () => {
    const replacement = new WorkerRestartPolicy();
    const outcomes = Array.from({ length: 5 }, () => replacement.after(STILLBORN, 0));
    expect(outcomes.slice(0, 4)).toEqual([100, 200, 400, 800]);
    expect(outcomes[4]).toBe('give-up');
  });

  it('does not give up while another worker is ready, or when one became so in between', () => {
    const replacement = new WorkerRestartPolicy();
    for (let count = 0; count < 20; count++) {
      expect(replacement.after(STILLBORN, 1)).not.toBe('give-up');
    }
    for (let count = 0; count < 20; count++) {
      if (count % 4 === 0) replacement.ready();
      expect(replacement.after(STILLBORN, 0)).not.toBe('give-up');
    }
  });
});
