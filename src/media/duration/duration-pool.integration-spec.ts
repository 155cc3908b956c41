import { execFile } from 'node:child_process';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { wavFile } from '../../../test/media/wav-file.js';
import { DURATION_LIMITS, DurationPool, measureMediaDuration } from './duration-pool.js';

const PATIENCE_MS = 60_000;

describe('measureMediaDuration', () => {
  let folder = '';
  let wav = '';
  let text = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'media-length-'));
    wav = join(folder, 'tone.mp3');
    text = join(folder, 'text.wav');
    await writeFile(wav, wavFile(98_720));
    await writeFile(text, 'no media');
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** A file whose reader waits until it is opened for writing too. */
  async function pipe(name: string): Promise<string> {
    const path = join(folder, `${name}.wav`);
    await promisify(execFile)('mkfifo', [path]);
    return path;
  }

  it('measures in a thread, by content and not by file name (AUD-20)', async () => {
    await expect(measureMediaDuration(wav, 'a')).resolves.toEqual({
      format: 'wav',
      durationMicros: 12_340_000n,
      hasVideo: false,
    });
  });

  it('rejects a file that is no media with unsupported_audio_format (AUD-19)', async () => {
    await expect(measureMediaDuration(text, 'a')).rejects.toMatchObject({
      name: 'GatewayError',
      code: 'unsupported_audio_format',
    });
  });

  it('rejects a file that takes more CPU time than allowed, then measures the next one', async () => {
    const hasty = new DurationPool({ cpuMs: 0, totalMs: PATIENCE_MS });
    const path = await pipe('costly');
    await expect(hasty.measure(path, 'a')).rejects.toMatchObject({
      code: 'unsupported_audio_format',
    });
    await (await open(path, 'r+')).close();
    await expect(hasty.measure(wav, 'a')).resolves.toMatchObject({ format: 'wav' });
  });

  it('rejects with 503 and Retry-After if the thread gets no CPU time, then measures the next one', async () => {
    const starved = new DurationPool({ cpuMs: 5_000, totalMs: 1_000 });
    starved.start();
    const path = await pipe('starved');
    await expect(starved.measure(path, 'a')).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 5,
    });
    await (await open(path, 'r+')).close();
    const patient = new DurationPool({ cpuMs: 5_000, totalMs: PATIENCE_MS });
    await expect(patient.measure(wav, 'a')).resolves.toMatchObject({ format: 'wav' });
  });

  it('measures the next file although a thread ended meanwhile', async () => {
    const pool = new DurationPool();
    pool.start();
    for (let count = 0; count < DURATION_LIMITS.threads + 1; count++) {
      await expect(pool.measure(join(folder, 'missing'), 'a')).rejects.toThrow('failed');
    }
    await expect(pool.measure(wav, 'a')).resolves.toMatchObject({ format: 'wav' });
  });

  it('fails with an internal error if the file does not exist', async () => {
    const missing = measureMediaDuration(join(folder, 'missing'), 'a');
    await expect(missing).rejects.toThrow('Measuring a media file failed.');
    await expect(missing).rejects.not.toMatchObject({ name: 'GatewayError' });
  });

  it('measures many files at once and rejects more than may wait, in total and of one account', async () => {
    const pool = new DurationPool();
    const {
      threadsPerAccount: threadsPerHolder,
      waitingPerAccount: waitingPerHolder,
      threads,
      waiting,
    } = DURATION_LIMITS;
    const many = (accountId: string, count: number) =>
      Array.from({ length: count }, () => pool.measure(text, accountId));
    const accepted = many('a', threadsPerHolder + waitingPerHolder);
    const refused = { code: 'service_unavailable' };
    await expect(pool.measure(wav, 'a')).rejects.toMatchObject(refused);
    for (let other = 0; accepted.length < threads + waiting; other++) {
      accepted.push(...many(`other ${other % 3}`, 1));
    }
    await expect(pool.measure(wav, 'b')).rejects.toMatchObject(refused);
    const results = await Promise.allSettled(accepted);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    await expect(pool.measure(wav, 'a')).resolves.toMatchObject({ format: 'wav' });
  });

  it('measures a file of another account while one account uses all the threads that it may use', async () => {
    const pool = new DurationPool({ cpuMs: PATIENCE_MS, totalMs: PATIENCE_MS });
    const path = await pipe('pipe');
    let measured = 0;
    const crowd = Array.from({ length: 200 }, (_, index) =>
      pool
        .measure(index < DURATION_LIMITS.threadsPerAccount ? path : wav, 'crowd')
        .catch(() => undefined)
        .finally(() => measured++),
    );
    await expect(pool.measure(wav, 'other')).resolves.toMatchObject({ format: 'wav' });
    expect(measured).toBe(0);
    while (measured < crowd.length) {
      // Whoever opens the pipe waits until it is opened for writing too.
      await (await open(path, 'r+')).close();
      await sleep(10);
    }
    await Promise.all(crowd);
  });

  it('measures files of accounts round-robin, however many each has waiting', async () => {
    const pool = new DurationPool();
    const order: string[] = [];
    const measure = (accountId: string) =>
      pool
        .measure(text, accountId)
        .catch(() => undefined)
        .finally(() => order.push(accountId));
    const crowds = ['a', 'b', 'c', 'd'].flatMap((accountId) =>
      Array.from({ length: 20 }, () => measure(accountId)),
    );
    const last = measure('last');
    await Promise.all([...crowds, last]);
    // In the order of arrival it would come last.
    expect(order.indexOf('last')).toBeLessThan(40);
  });
});
