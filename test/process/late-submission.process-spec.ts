import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { SEND_WINDOW_MS } from '../../src/tasks/worker/send-window.js';
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
const PNG = Buffer.from('89504e470d0a1a0a00000000', 'hex');
const IMAGE = { $inline: 'first_frame_url', as: 'data_url' };
const MODEL = {
  id: 'vid-held',
  operation: 'video',
  routes: [{ provider: 'held', upstream_model: 'm' }],
  limits: { max_image_urls: 0, frames: ['first'] },
  price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: 100 }] },
};

let database: TestDatabase;
let vendor: StubUpstream;
let settings: NodeJS.ProcessEnv;
/** The fetch of the image, which the vendor gets inside of the submission. */
let fetched: ServerResponse | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  vendor = await StubUpstream.start();
  vendor.reply = (response, { method }) => {
    if (method === 'GET') fetched = response.setHeader('content-type', 'image/png');
    else response.end(JSON.stringify({ id: 'job-1' }));
  };
  const folder = await temporaryFolder();
  const file = {
    ...{ id: 'held', protocol: 'async-json', key_env: '', base_url: vendor.url },
    auth: { in: 'bearer' },
    submit: {
      ...{ path: '/jobs', id: 'id' },
      body: { model: '{{model}}', prompt: '{{prompt}}', image: IMAGE },
    },
    read: {
      ...{ path: '/jobs/{id}', state: 'state' },
      states: { queued: ['queued'], succeeded: ['done'], failed: ['failed'] },
    },
    result: { url: ['video'] },
  };
  await writeFile(join(folder, 'held.json'), JSON.stringify(file));
  const catalog = join(await temporaryFolder(), 'catalog.json');
  await writeFile(catalog, JSON.stringify({ models: [MODEL] }));
  settings = {
    DATABASE_URL: database.url,
    STORAGE_URL: `file://${await temporaryFolder()}`,
    ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: catalog },
    EGRESS_ALLOW: new URL(vendor.url).host,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '200',
  };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await vendor.stop();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

const query = <Row extends object = object>(sql: string): Promise<Row[]> =>
  database.dataSource.query<Row[]>(sql);

it(
  'a gateway that was suspended between its mark and the first byte does not send what another one took over',
  async () => {
    const suspended = await startGatewayProgram(settings);
    const { headers } = await suspended.account(CREDIT);
    const body = { ...VIDEO, model: MODEL.id, first_frame_url: `${vendor.url}/frame.png` };
    expect(await postJson(`${suspended.url}/v1/videos`, headers, body)).toMatchObject({
      status: 200,
    });
    await until(() => fetched !== undefined);
    suspended.child.kill('SIGSTOP');
    const suspendedAtMs = performance.now();
    fetched?.end(PNG);

    await query(`UPDATE task_work SET due_at = now() WHERE phase = 'submitting'`);
    const other = await startGatewayProgram(settings);
    const unknown = `SELECT id FROM task WHERE status = 'reconciliation_required'`;
    await until(async () => (await query(unknown)).length === 1);
    const [task] = await query<{ id: string }>(unknown);
    const path = `/tasks/${toPublicId('task', task?.id ?? '')}/resolve`;
    expect(await other.admin('POST', path, { outcome: 'failed' })).toMatchObject({ status: 200 });

    await sleep(Math.max(0, SEND_WINDOW_MS - (performance.now() - suspendedAtMs)));
    suspended.child.kill('SIGCONT');
    // A drain waits for every step that is under way.
    expect(await suspended.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(vendor.seen.filter(({ method }) => method === 'POST')).toEqual([]);
    const account = (await send(`${other.url}/v1/account`, { headers })).json;
    expect(account).toMatchObject({ available_microusd: String(CREDIT), held_microusd: '0' });
    expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
    await other.end('SIGKILL');
  },
  PROCESS_TEST_TIMEOUT_MS,
);
