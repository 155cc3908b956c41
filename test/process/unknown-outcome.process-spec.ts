import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { VIDEO } from '../support/video-harness.js';

const CREDIT = 10_000_000n;
const PRICE = 100n;
const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(1_000),
]);
const MODEL = {
  id: 'vid-late',
  operation: 'video',
  routes: [{ provider: 'late', upstream_model: 'm' }],
  limits: { max_image_urls: 0 },
  price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: Number(PRICE) }] },
};

let database: TestDatabase;
let vendor: StubUpstream;
let settings: NodeJS.ProcessEnv;
let isReadable = false;
/** The requests for the video, which are not answered unless a test does. */
const films: ServerResponse[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  vendor = await StubUpstream.start();
  vendor.reply = (response, { method, url }) => {
    if (url.endsWith('.mp4')) films.push(response);
    else if (method === 'POST') response.end(JSON.stringify({ id: 'job-1' }));
    else if (isReadable)
      response.end(JSON.stringify({ state: 'done', video: `${vendor.url}/a.mp4` }));
    else response.writeHead(500).end();
  };
  const folder = await temporaryFolder();
  const file = {
    ...{ id: 'late', protocol: 'async-json', key_env: '', base_url: vendor.url },
    auth: { in: 'bearer' },
    submit: { path: '/jobs', id: 'id', body: { model: '{{model}}', prompt: '{{prompt}}' } },
    read: {
      ...{ path: '/jobs/{id}', state: 'state' },
      states: { succeeded: ['done'], failed: ['failed'] },
    },
    result: { url: ['video'] },
  };
  await writeFile(join(folder, 'late.json'), JSON.stringify(file));
  const catalog = join(await temporaryFolder(), 'catalog.json');
  await writeFile(catalog, JSON.stringify({ models: [MODEL] }));
  settings = {
    DATABASE_URL: database.url,
    STORAGE_URL: `file://${await temporaryFolder()}`,
    ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: catalog },
    EGRESS_ALLOW: new URL(vendor.url).host,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '100',
  };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await vendor.stop();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

const query = <Row extends object = object>(sql: string): Promise<Row[]> =>
  database.dataSource.query<Row[]>(sql);
const seen = async (status: string, evidence: string) =>
  (await query(`SELECT FROM task WHERE status = '${status}' AND evidence_status ${evidence}`))
    .length === 1;

it(
  'a process that dies between the evidence about an unknown outcome and its decision leaves the decision to the next one',
  async () => {
    const first = await startGatewayProgram(settings);
    const { headers } = await first.account(CREDIT);
    const sent = await postJson(`${first.url}/v1/videos`, headers, { ...VIDEO, model: MODEL.id });
    expect(sent).toMatchObject({ status: 200 });
    await until(
      async () => (await query(`SELECT FROM task WHERE provider_job_id = 'job-1'`)).length === 1,
    );
    await query(`UPDATE task SET created_at = created_at - interval '1 day'`);
    await until(() => seen('reconciliation_required', 'IS NULL'));
    isReadable = true;
    await until(() => films.length === 1);
    expect(await seen('reconciliation_required', `= 'succeeded'`)).toBe(true);
    await first.end('SIGKILL');

    await query(`UPDATE task_work SET due_at = now()`);
    const second = await startGatewayProgram(settings);
    await until(() => films.length === 2);
    films[1]?.writeHead(200, { 'content-type': 'video/mp4' }).end(MP4);
    await until(() => seen('succeeded', `= 'succeeded'`));
    const { id } = sent.json as { id: string };
    const film = await send(`${second.url}/v1/videos/${id}/content`, { headers });
    expect(film.bytes).toEqual(MP4);
    const account = (await send(`${second.url}/v1/account`, { headers })).json;
    expect(account).toMatchObject({
      available_microusd: String(CREDIT - PRICE),
      held_microusd: '0',
    });
    expect(vendor.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(await query(`SELECT FROM ledger_entry WHERE kind = 'charge'`)).toHaveLength(1);
    expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
    await second.end('SIGKILL');
  },
  // It starts two gateways.
  PROCESS_TEST_TIMEOUT_MS * 2,
);
