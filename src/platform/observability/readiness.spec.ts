import { describe, expect, it } from '@jest/globals';
import { Readiness } from './readiness.js';

describe('readiness', () => {
  it('is true while the process serves and can work, and never again after the drain began', async () => {
    let answers = true;
    const readiness = new Readiness();
    readiness.checkBy(() => Promise.resolve(answers));
    expect(await readiness.isReady()).toBe(false);
    readiness.serve();
    expect(await readiness.isReady()).toBe(true);
    answers = false;
    expect(await readiness.isReady()).toBe(false);
    answers = true;
    expect(await readiness.isReady()).toBe(true);
    readiness.drain();
    expect(await readiness.isReady()).toBe(false);
    expect(readiness.isDraining).toBe(true);
  });
});
