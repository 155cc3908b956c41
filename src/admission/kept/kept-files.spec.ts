import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SystemClock } from '../../common/time/clock.js';
import { SecretBox } from '../../common/secrets/secret-box.js';
import { KeptFiles } from './kept-files.js';
import type { SpooledAnswer } from './spooled-answer.js';

const ANSWER = {
  id: '0190a0b0-0000-7000-8000-000000000001',
  contentType: 'audio/mpeg',
  headers: {},
};
const ALL_AT_ONCE = 16;
const OF_AN_ACCOUNT = 4;

let writeErrors: number;
let asked: string[];
let signals: AbortSignal[];
let files: KeptFiles;

beforeEach(() => {
  jest.useFakeTimers();
  writeErrors = 0;
  asked = [];
  signals = [];
  // Neither answers, as a storage that hangs.
  const storage = {
    save: ({ accountId, signal }: { accountId: string; signal: AbortSignal }) => {
      asked.push(accountId);
      signals.push(signal);
      return new Promise(() => undefined);
    },
    countFailedWrite: () => (writeErrors += 1),
  };
  const dataSource = { query: () => Promise.resolve([{ full: false }]) };
  files = new KeptFiles(
    storage as never,
    undefined as never,
    undefined as never,
    dataSource as never,
    new SecretBox([]),
    new SystemClock(),
  );
});
afterEach(() => {
  jest.useRealTimers();
});

const spooled = (): SpooledAnswer =>
  ({
    sizeBytes: 1,
    end: () => Promise.resolve(true),
    sealed: () => Promise.resolve(Readable.from([])),
  }) as unknown as SpooledAnswer;
const keep = (accountId: string) => files.keep({ ...ANSWER, accountId }, spooled());

describe('an answer whose storage hangs', () => {
  it('is not kept after 30 s, and counts as an error of the storage', async () => {
    const kept = keep('a');
    await jest.advanceTimersByTimeAsync(29_999);
    expect([asked, signals[0]?.aborted]).toEqual([['a'], false]);
    await jest.advanceTimersByTimeAsync(1);
    expect(await kept).toBe(false);
    expect([signals[0]?.aborted, writeErrors]).toEqual([true, 1]);
  });

  it('is one of four of its account and of sixteen in all; further ones are not kept', async () => {
    const accounts = Array.from({ length: ALL_AT_ONCE / OF_AN_ACCOUNT }, (_, index) => `a${index}`);
    for (const account of accounts)
      for (let count = 0; count < OF_AN_ACCOUNT; count += 1) void keep(account);
    await jest.advanceTimersByTimeAsync(0);
    expect(await keep('a0')).toBe(false);
    expect(await keep('another')).toBe(false);
    expect(asked).toHaveLength(ALL_AT_ONCE);
    // They still have their memory after the response has gone on.
    await jest.advanceTimersByTimeAsync(31_000);
    expect(await keep('another')).toBe(false);
  });
});
