import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { fuzzRun, fuzzWorld } from './fuzz-run.js';

const COUNT = 2_000;
const FORMS = 800;
const SEED = 20_260;
const TIMEOUT_MS = 600_000;
const PATIENCE_MS = 30_000;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    TRUST_PROXY: '127.0.0.0/8',
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '200',
  });
});
afterAll(() => gateway.stop());

const uploads = () => readdirSync(join(gateway.config.dataDir, 'uploads', String(process.pid)));

it(
  `${COUNT} damaged requests bring no crash, no 5xx, no answer outside the envelope, no hang, and leave no file`,
  async () => {
    const [rich, poor] = [await gateway.account(), await gateway.account(0n)];
    const keys = [rich.key, rich.key, rich.key, poor.key];
    const world = await fuzzWorld(gateway.url, rich.key, ADMIN_TOKEN);
    const report = await fuzzRun({ url: gateway.url, world, keys, count: COUNT, seed: SEED });
    expect(report.violations).toEqual([]);
    expect(Object.keys(report.statuses)).toEqual(expect.arrayContaining(['200', '400', '401']));
    for (let waitedMs = 0; uploads().length > 0 && waitedMs < PATIENCE_MS; waitedMs += 50) {
      await sleep(50);
    }
    expect(uploads()).toEqual([]);
    await gateway.expectCleanBooks();
  },
  TIMEOUT_MS,
);

it(
  `${FORMS} forms of hostile parts bring no crash, no 5xx, no answer outside the envelope, no hang, and leave no file`,
  async () => {
    const { key } = await gateway.account();
    const world = await fuzzWorld(gateway.url, key, ADMIN_TOKEN);
    const plan = { url: gateway.url, world, keys: [key], count: FORMS, seed: SEED };
    const report = await fuzzRun({ ...plan, grammar: 'forms' });
    expect(report.violations).toEqual([]);
    expect(Object.keys(report.statuses)).toEqual(expect.arrayContaining(['200', '400']));
    for (let waitedMs = 0; uploads().length > 0 && waitedMs < PATIENCE_MS; waitedMs += 50) {
      await sleep(50);
    }
    expect(uploads()).toEqual([]);
    await gateway.expectCleanBooks();
  },
  TIMEOUT_MS,
);
