import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import { silentWav } from '../support/dubbing-harness.js';
import { EdgeHarness } from '../support/edge-harness.js';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

/** With `npm run test:crash -- tasks` the claim of the killed gateway ends in its time. */
const LEASES = process.env.LEASES === 'real' ? 'real' : 'ended';
const CREDIT = 1_000_000_000n;
const SOURCE = silentWav(60);
const CLAIMS = `SELECT lease_until <= now() + interval '30 s' AS "endsSoon" FROM idempotency_key WHERE task_id IS NULL`;

let harness: EdgeHarness;
let scratch: string;
/** So much of the source comes; undefined: all. */
let sentBytes: number | undefined;

beforeAll(async () => {
  const dataDir = await temporaryFolder();
  scratch = join(dataDir, 'uploads');
  harness = await EdgeHarness.open(CREDIT, { DATA_DIR: dataDir });
  const { stub } = harness.upstreams;
  const { reply } = stub;
  stub.reply = (response, request) => {
    if (!request.url.endsWith('.wav')) return reply(response, request);
    response.writeHead(200, { 'content-type': 'audio/wav', 'content-length': SOURCE.length });
    if (sentBytes === undefined) return response.end(SOURCE);
    response.flushHeaders();
    return response.write(SOURCE.subarray(0, sentBytes));
  };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await harness.stop();
}, PROCESS_TEST_TIMEOUT_MS);

/** Sizes of the files that gateways work on. */
async function scratchFiles(): Promise<number[]> {
  const entries = await readdir(scratch, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
}

const downloads = () =>
  harness.upstreams.stub.seen.filter(({ url }) => url.endsWith('.wav')).length;

describe('a gateway that is killed while it downloads the source of a dub', () => {
  it.each([
    ['nothing', 0],
    ['half', SOURCE.length / 2],
    ['all but a byte', SOURCE.length - 1],
  ])(
    'leaves nothing when %s has come: the repetition makes the one task',
    async (name, bytes) => {
      const before = downloads();
      sentBytes = bytes;
      const submission = harness.submitted('dub', name);
      await until(async () => (await scratchFiles()).join() === String(bytes));
      expect(await harness.query(CLAIMS)).toEqual([{ endsSoon: true }]);
      expect(await harness.query(`SELECT FROM hold WHERE state = 'open'`)).toEqual([]);
      await harness.gateway.end('SIGKILL');
      sentBytes = undefined;
      await harness.restart(LEASES);
      // The repetition may be at its download already, in the folder of the next process.
      expect(await readdir(scratch)).toEqual([String(harness.gateway.pid)]);

      const id = await submission;
      await until(async () => (await harness.task(id)).status === 'succeeded');
      expect(downloads() - before).toBe(2);
      expect(await harness.query(CLAIMS)).toEqual([]);
      expect(await harness.submitted('dub', name)).toBe(id);
      expect(downloads() - before).toBe(2);
      const bound = `SELECT task_id FROM idempotency_key WHERE key = $1`;
      const taskId = fromPublicId('task', id);
      expect(await harness.query(bound, [name])).toEqual([{ task_id: taskId }]);
      expect(await scratchFiles()).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'has one hold and one order for each of those tasks, and keeps the files of their dubs only',
    async () => {
      const tasks = await harness.query<{ charged: string; file: string }>(
        `SELECT charged, content ->> 'fileId' AS file FROM task`,
      );
      expect(tasks).toHaveLength(3);
      expect(harness.upstreams.orders).toHaveLength(3);
      expect(await harness.query(`SELECT state FROM hold`)).toEqual(
        tasks.map(() => ({ state: 'settled' })),
      );
      const charged = tasks.reduce((sum, task) => sum + BigInt(task.charged), 0n);
      const { headers } = harness.account;
      const account = await fetch(`${harness.gateway.url}/v1/account`, { headers });
      expect(await account.json()).toMatchObject({
        held_microusd: '0',
        available_microusd: String(CREDIT - charged),
      });
      const audit = await auditLedger(harness.database.dataSource);
      expect(audit).toMatchObject({ ok: true, discrepancies: [] });
      expect((await harness.filesLeft()).sort()).toEqual(tasks.map(({ file }) => file).sort());
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
