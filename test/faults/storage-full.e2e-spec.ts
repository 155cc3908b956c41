import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import { DubbingHarness, silentWav } from '../support/dubbing-harness.js';
import { postJson } from '../support/http-answer.js';

const DISK_BYTES = 1_048_576;
/** Enough for the source, which has 5 kB, and too little for its dub. */
const LEFT_BYTES = 12_288;
const PRICE = 62_500n;

const disk = mkdtempSync(join(tmpdir(), 'shim-disk-'));
const FILLER = join(disk, 'filler');
/** A disk of its own takes the right to mount one, which test machines may not give. */
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk]);
const describeWithDisk = isMounted.status === 0 ? describe : describe.skip;
if (isMounted.status !== 0) {
  process.stderr.write('\n*** NO DISK MAY BE MOUNTED HERE: TESTS OF A FULL DISK DID NOT RUN ***\n');
}

/** Fills the disk until so many bytes are left. */
async function fill(leftBytes: number): Promise<void> {
  const file = await open(FILLER, 'w');
  try {
    for (;;) await file.write(Buffer.alloc(4_096));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
    await file.truncate((await file.stat()).size - leftBytes);
  } finally {
    await file.close();
  }
}

/** Names of an account's files. */
function filesOf(accountId: string): Promise<string[]> {
  return readdir(join(disk, accountId)).catch(() => []);
}

describeWithDisk('a disk for stored files that is full', () => {
  let harness: DubbingHarness;

  beforeAll(async () => {
    harness = await DubbingHarness.open({ STORAGE_URL: `file://${disk}` });
  });
  afterAll(() => harness.close());
  beforeEach(async () => {
    await harness.clear();
    harness.serve(silentWav(5));
  });
  afterEach(() => rm(FILLER, { force: true }));

  it('refuses a submission with 503 and leaves nothing; with room again it is taken', async () => {
    await fill(0);
    const refusal = { status: 503, code: 'service_unavailable' } as const;
    await harness.refuses(() => harness.post(), refusal);
    expect(await filesOf(harness.account.accountId)).toEqual([]);
    await rm(FILLER);
    expect(await harness.ended((await harness.submit()).id)).toMatchObject({ status: 'succeeded' });
  });

  it('keeps a finished dub waiting, unpaid, until it can be stored', async () => {
    await fill(LEFT_BYTES);
    const { id } = await harness.submit();
    const work = `SELECT phase, put_offs FROM task_work WHERE task_id = $1`;
    for (;;) {
      const rows = await harness.gateway.dataSource.query<{ phase: string; put_offs: number }[]>(
        work,
        [fromPublicId('task', id)],
      );
      expect(rows).toHaveLength(1);
      if (rows[0]?.phase === 'collecting' && rows[0].put_offs > 2) break;
      await sleep(20);
    }
    expect(await harness.task(id)).toMatchObject({ status: 'processing', charged_microusd: null });
    expect((await harness.get(`${id}/content`)).status).toBe(409);
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({ held: PRICE });

    await rm(FILLER);
    expect(await harness.ended(id)).toMatchObject({
      status: 'succeeded',
      charged_microusd: String(PRICE),
    });
    const content = await harness.get(`${id}/content`);
    expect(content.status).toBe(200);
    expect(await filesOf(harness.account.accountId)).toHaveLength(1);
    const { held, entries } = await harness.gateway.balance(harness.account.accountId);
    expect({ held, entries }).toEqual({ held: 0n, entries: 2 });
  });

  it('costs no second call where the answer of a call as a task has no room at first', async () => {
    await fill(0);
    const { gateway, account } = harness;
    const body = { model: 'aud-v4', input: 'Hello', voice: 'Adam' };
    const headers = { ...account.headers, prefer: 'respond-async' };
    const speeches = async () =>
      ((await gateway.sandbox?.requests(1_000)) ?? []).filter(({ path }) =>
        path.includes('/text-to-speech/'),
      ).length;
    const before = await speeches();
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, body);
    const { id } = answer.json as { id: string };
    while ((await speeches()) === before) await sleep(20);
    await sleep(500);
    expect(await harness.task(id)).toMatchObject({ status: 'processing', charged_microusd: null });
    await rm(FILLER);
    expect(await harness.ended(id)).toMatchObject({ status: 'succeeded', charged_microusd: '600' });
    expect((await harness.get(`${id}/content`)).status).toBe(200);
    expect(await speeches()).toBe(before + 1);
  });
});

afterAll(() => {
  spawnSync('umount', ['-l', disk]);
  spawnSync('rmdir', [disk]);
});
