import { describe, expect, it } from '@jest/globals';
import { Readiness } from './readiness.js';

describe('readiness', () => {
  it('is there while serving with a database that answers, and never again once draining', async () => {
    let answers = true;
    const check = () => (answers ? Promise.resolve() : Promise.reject(new Error('gone')));
    const readiness = new Readiness(check);
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
