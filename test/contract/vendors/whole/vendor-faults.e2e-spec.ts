import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditLedger } from '../../../../src/billing/audit/audit.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../../support/gateway.js';
import { postJson } from '../../../support/http-answer.js';
import { until } from '../../../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.js';
import { settingsOf, startVendors, type VendorGateway } from './played-gateway.js';
import type { PlayedVendor, VendorScript } from './played-vendor.js';
import { PLAYED_WIRES } from './played-wires.js';
import { Scene } from './scene.js';

/** The gateway waits so long for a vendor that says nothing. */
const SILENCE_MS = 4_000;
const MANY_READS = 5;

let receiver: WebhookReceiver;
let vendors: PlayedVendor[];
let gateway: TestGateway;
let desk: VendorGateway;
const storage = mkdtempSync(join(tmpdir(), 'shim-vendor-files-'));

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  vendors = await startVendors();
  const settings = settingsOf(vendors);
  // The keys of vendors are no settings of the gateway: it reads them from its environment.
  for (const { wire } of vendors) process.env[wire.keyVariable] = settings[wire.keyVariable];
  gateway = await startTestGateway({
    ...settings,
    STORAGE_URL: `file://${storage}`,
    UPSTREAM_TIMEOUT_MS: String(SILENCE_MS),
  });
  const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
  desk = {
    url: gateway.url,
    dataSource: gateway.dataSource,
    account: (credit) => gateway.account(credit),
    operate: (path, body) => postJson(`${gateway.url}/admin${path}`, operator, body),
  };
});
afterAll(async () => {
  for (const { keyVariable } of PLAYED_WIRES) Reflect.deleteProperty(process.env, keyVariable);
  await gateway.stop();
  await Promise.all([receiver.stop(), ...vendors.map((vendor) => vendor.stop())]);
});

type Play = (scene: Scene) => Promise<void>;
type Fault = readonly [what: string, script: Partial<VendorScript>, play: Play];

const isPaid: Play = (scene) => scene.expectPaid();
const isFree: Play = (scene) => scene.expectFree();
const isUnknown: Play = async (scene) => {
  await scene.expectUnknown();
  await scene.resolve('failed');
  await scene.expectFree();
  // It was never known, or is finished.
  expect(scene.order.ends).toEqual([]);
};
/** A vendor that is asked by our reference has the job. */
const isLost: Play = (scene) =>
  scene.vendor.wire.found === undefined ? isUnknown(scene) : scene.expectPaid();

const FAULTS: readonly Fault[] = [
  [
    'makes a video, which is paid, stored, and then deleted where its file says so',
    {},
    async (scene) => {
      await scene.expectPaid();
      await scene.expectEnds('delete');
    },
  ],
  ['refuses the job: free', { submit: ['refused'] }, isFree],
  [
    'refuses the content at the submission: free, and the caller is told so',
    { submit: ['unsafe'] },
    (scene) => scene.expectUnshown('submit'),
  ],
  [
    'refuses the content of the job: free, the caller is told so, and its cost is recorded',
    { reads: ['waiting', 'condemned'], results: ['unsafe'] },
    (scene) => scene.expectUnshown('job'),
  ],
  ['fails the job: free', { reads: ['waiting', 'failed'] }, isFree],
  [
    'is busy: the job is sent again, and paid once',
    { submit: ['busy', 'accepted'] },
    (scene) => scene.expectPaid(2),
  ],
  ['loses the answer to the submission: unknown, or found', { submit: ['reset'] }, isLost],
  ['breaks off the answer to the submission: unknown, or found', { submit: ['half'] }, isLost],
  ['hangs at the submission: unknown, or found', { submit: ['hold'] }, isLost],
  ['answers the submission with 2 MB: unknown, or found', { submit: ['huge'] }, isLost],
  ['answers the submission with a page: unknown, or found', { submit: ['page'] }, isLost],
  ['answers the submission without an id: unknown, or found', { submit: ['keyless'] }, isLost],
  ['fails at the submission with 500: unknown, or found', { submit: ['error'] }, isLost],
  [
    'answers slowly, at the submission and at reads: paid',
    { submit: ['slow'], reads: ['slow'] },
    isPaid,
  ],
  [
    'succeeds after reads that failed: paid',
    { reads: ['error', 'reset', 'page', 'half', 'keyless', 'done'] },
    isPaid,
  ],
  ['hangs at a read, and succeeds: paid', { reads: ['hold', 'done'] }, isPaid],
  ['answers a read with 2 MB, and succeeds: paid', { reads: ['huge', 'done'] }, isPaid],
  [
    'says a word that it does not document, and succeeds: held, then paid',
    { reads: ['odd'] },
    async (scene) => {
      await until(() => scene.order.reads >= MANY_READS);
      await scene.expectHeld();
      expect((await scene.state()).unknown).toMatch(/review|PAUSED|sleeping|booting/i);
      scene.order.script.reads = ['done'];
      await scene.expectPaid();
    },
  ],
  [
    'cannot be read until the deadline, and then says that it had succeeded: unknown, then paid',
    { reads: ['waiting', 'error'] },
    async (scene) => {
      await until(() => scene.order.reads >= 2);
      await scene.overdue();
      await scene.expectUnknown();
      scene.order.script.reads = ['done'];
      await until(async () => (await scene.state()).status === 'succeeded');
      await scene.expectPaid();
      expect((await scene.state()).evidence).toBe('succeeded');
    },
  ],
  [
    'succeeds after the deadline, although it was asked to stop: free, and the operator is told',
    { reads: ['waiting'] },
    async (scene) => {
      await until(() => scene.order.reads >= 1);
      await scene.overdue();
      await scene.expectFree();
      await scene.expectEnds('cancel');
      scene.order.script.reads = ['done'];
      await until(async () => (await scene.state()).evidence === 'succeeded');
      await scene.expectFree();
    },
  ],
  [
    'gives its file only at the third request: paid',
    { files: ['error', 'half', 'file'] },
    async (scene) => {
      await scene.expectPaid();
      expect(scene.order.files).toBe(3);
    },
  ],
  [
    'is done while nothing can be stored: held, then paid',
    { reads: ['waiting'] },
    async (scene) => {
      const folder = join(storage, (await scene.state()).account);
      await writeFile(folder, 'no folder can be made here');
      scene.order.script.reads = ['done'];
      await until(async () => ((await scene.state()).putOffs ?? 0) >= 2);
      await scene.expectHeld();
      await rm(folder);
      await scene.expectPaid();
    },
  ],
  [
    'works on a job that an operator decides to have failed: free, and it is asked to stop',
    { reads: ['waiting', 'error'] },
    async (scene) => {
      await until(() => scene.order.reads >= 2);
      await scene.overdue();
      await scene.expectUnknown();
      expect(scene.order.ends).toEqual([]);
      scene.order.script.reads = ['waiting'];
      await scene.resolve('failed');
      await scene.expectFree();
      await scene.expectEnds('cancel');
    },
  ],
  ['gives a page for the file: unknown', { files: ['page'] }, isUnknown],
  ['does not have its file at once: paid', { files: ['gone', 'gone', 'file'] }, isPaid],
];

/** Plays a fault at all vendors at once; returns what was wrong, by vendor. */
async function played([what, script, play]: Fault): Promise<ReadonlyMap<string, unknown>> {
  const scenes = await Scene.openAll({ gateway: desk, receiver }, vendors, what, script);
  const ends = await Promise.allSettled(scenes.map(play));
  const faults = ends.map((end, index): [string, unknown] => [
    vendors[index]?.wire.id ?? '',
    end.status === 'rejected' ? end.reason : undefined,
  ]);
  return new Map(faults);
}

const ids = PLAYED_WIRES.map(({ id }) => id);

describe.each(FAULTS)('a vendor that %s', (...fault) => {
  let faults: ReadonlyMap<string, unknown>;
  beforeAll(async () => {
    faults = await played(fault);
  });

  it.each(ids)('%s', (id) => {
    if (faults.get(id) !== undefined) throw faults.get(id);
    expect(faults.has(id)).toBe(true);
  });

  it('leaves exact books', async () => {
    expect(await auditLedger(gateway.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
  });
});

describe('all vendors', () => {
  it('leave no hold, and told each caller once', async () => {
    await gateway.expectCleanBooks();
    const paths = receiver.received.map(({ path }) => path);
    expect(paths).toHaveLength(FAULTS.length * ids.length);
    expect(new Set(paths).size).toBe(paths.length);
  });
});
