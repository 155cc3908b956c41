import { randomBytes, createSecretKey } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FrameOpener } from '../../common/secrets/sealed-frames.js';
import { HeldBytes } from '../../media/held-bytes.js';
import { Spool } from '../../media/spool.js';
import { Quota } from '../../platform/fairness/quota.js';
import { SpooledAnswer } from './spooled-answer.js';

const ACCOUNT = 'account';
const CONTEXT = 'answers/1';
const SPOOL_BYTES = 4_000_000;
const MEMORY_BYTES = 8_000_000;

let folder: string;
let spool: Spool;
let memory: Quota;
let spoolBytes: () => number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shim-kept-'));
  memory = new Quota({ perBucket: MEMORY_BYTES });
  const watch = (name: string, _help: string, read: () => number): void => {
    if (name === 'gateway_spool_bytes') spoolBytes = read;
  };
  spool = new Spool({ spoolMaxBytes: SPOOL_BYTES, maxUploadsPerAccount: 1 }, { watch });
});
afterEach(() => {
  expect([memory.inUse, spoolBytes()]).toEqual([0, 0]);
  rmSync(folder, { recursive: true });
});

function begin(path = join(folder, 'answer'), file?: Promise<HeldBytes>): SpooledAnswer {
  const opened = file ?? HeldBytes.open(path, spool.openResponse(ACCOUNT), SPOOL_BYTES);
  return new SpooledAnswer({ accountId: ACCOUNT, context: CONTEXT, memory, file: opened });
}

describe('an answer that goes to a file', () => {
  it('is in it whole and encrypted, and the file has no name', async () => {
    const answer = begin();
    const pieces = Array.from({ length: 40 }, (_, index) => randomBytes(1_000 * index));
    for (const piece of pieces) await answer.add(piece);
    expect(await answer.end()).toBe(true);
    const sent = Buffer.concat(pieces);
    expect(answer.sizeBytes).toBe(sent.length);
    expect(readdirSync(folder)).toEqual([]);
    const sealed = await buffer(await answer.sealed());
    expect(sealed.includes(sent.subarray(0, 32))).toBe(false);
    const opener = new FrameOpener(createSecretKey(answer.key), CONTEXT);
    opener.end(sealed);
    expect((await buffer(opener)).equals(sent)).toBe(true);
    await answer.close();
  });

  it('lets its caller wait while much waits for the disk', async () => {
    const answer = begin();
    expect(answer.add(randomBytes(100))).toBeUndefined();
    const wait = answer.add(randomBytes(1_500_000));
    expect(wait).toBeDefined();
    await wait;
    expect(memory.inUse).toBe(0);
    await answer.close();
  });

  it('is given up where the spool takes no more', async () => {
    const answer = begin();
    for (let piece = 0; piece < 5; piece += 1) await answer.add(randomBytes(500_000));
    expect(await answer.end()).toBe(false);
    await answer.close();
  });

  it('is given up where no file can be made', async () => {
    const answer = begin(join(folder, 'no', 'such', 'folder'));
    await answer.add(randomBytes(500_000));
    expect(await answer.end()).toBe(false);
    await answer.close();
  });

  it('is given up where too many copies are in memory', async () => {
    const answer = begin();
    expect(answer.isGivenUp).toBe(false);
    void answer.add(randomBytes(MEMORY_BYTES + 1));
    expect(answer.isGivenUp).toBe(true);
    expect(await answer.end()).toBe(false);
  });

  it('lets its caller wait for seconds at most for a disk that hangs, and is given up then', async () => {
    let goOn: (file: HeldBytes) => void = () => undefined;
    const file = new Promise<HeldBytes>((resolve) => {
      goOn = resolve;
    });
    const answer = begin('', file);
    const sinceMs = performance.now();
    await answer.add(randomBytes(2_000_000));
    expect(performance.now() - sinceMs).toBeLessThan(5_000);
    expect(answer.add(randomBytes(2_000_000))).toBeUndefined();
    goOn(await HeldBytes.open(join(folder, 'late'), spool.openResponse(ACCOUNT), SPOOL_BYTES));
    expect(await answer.end()).toBe(false);
    await answer.close();
  });

  it('waits no longer for a disk that hangs at the end of the answer', async () => {
    let goOn: (file: HeldBytes) => void = () => undefined;
    const file = new Promise<HeldBytes>((resolve) => {
      goOn = resolve;
    });
    const answer = begin('', file);
    expect(answer.add(randomBytes(500_000))).toBeUndefined();
    const sinceMs = performance.now();
    expect(await answer.end()).toBe(false);
    expect(performance.now() - sinceMs).toBeLessThan(5_000);
    goOn(await HeldBytes.open(join(folder, 'late'), spool.openResponse(ACCOUNT), SPOOL_BYTES));
    await answer.close();
  });
});
