import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
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
const AT_ONCE = 8;

let writeErrors: number;
let asked: string[];
let signals: AbortSignal[];
let warnings: string[];
/** Ends the last one that was begun. */
let endOne: () => void;
let files: KeptFiles;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  warnings = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((line) => {
    warnings.push(String(line));
  });
  writeErrors = 0;
  asked = [];
  signals = [];
  // Neither answers, as a storage that hangs.
  const storage = {
    save: ({ accountId, signal }: { accountId: string; signal: AbortSignal }) => {
      asked.push(accountId);
      signals.push(signal);
      return new Promise((_, reject) => {
        endOne = () => {
          reject(new Error('away'));
        };
      });
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
  jest.restoreAllMocks();
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
    endOne();
    await setImmediate();
    expect(warnings).toEqual([
      expect.stringMatching(/^exec_\w+: its answer was not kept: .* 30000 ms$/),
    ]);
  });

  it('is one of eight that are stored at once; further ones wait for their turn within their 30 s', async () => {
    for (let count = 0; count < AT_ONCE; count += 1) void keep('a');
    const [next, another] = [keep('a'), keep('b')];
    await jest.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(Array.from({ length: AT_ONCE }, () => 'a'));
    endOne();
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    expect(asked.at(-1)).toBe('a');
    expect(asked).toHaveLength(AT_ONCE + 1);
    await jest.advanceTimersByTimeAsync(30_000);
    expect([await next, await another]).toEqual([false, false]);
    expect(asked).toHaveLength(AT_ONCE + 1);
  });
});
