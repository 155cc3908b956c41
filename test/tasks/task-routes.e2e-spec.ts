import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../../src/common/time/spans.js';
import { TaskWorker } from '../../src/tasks/worker/task-worker.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../support/gateway.js';
import { postJson, send } from '../support/http-answer.js';
import { KeyedVendor, MADE_VIDEO, type SubmissionReply } from '../support/keyed-vendor.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { VideoHarness } from '../support/video-harness.js';

const PRICE = 320_000n;
const CREDIT = 1_000_000n;
const COST_OF_TWO = 111_000;
const KEYS_OF_ONE = ['one-key-a', 'one-key-b'] as const;
const KEY_OF_TWO = 'two-key';
/** Long enough for a submission, its polls, the file, and what is put off once. */
const STEPS = 6;

const status =
  (code: number, headers = {}): SubmissionReply =>
  (response) =>
    response.writeHead(code, headers).end('{}');
const lost: SubmissionReply = (response) => response.destroy();

let one: KeyedVendor;
let two: KeyedVendor;
let gateway: TestGateway;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  one = new KeyedVendor(await StubUpstream.start());
  two = new KeyedVendor(await StubUpstream.start());
  const gone = await StubUpstream.start();
  const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
  const urls = { one: one.stub.url, two: two.stub.url, gone: gone.url };
  for (const [id, url] of Object.entries(urls))
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(KeyedVendor.file(id, url)));
  await gone.stop();
  const price = (microUsd: number) => ({
    unit: 'video',
    by_seconds: [{ seconds: '5', micro_usd: microUsd }],
  });
  const model = (id: string, ...providers: string[]) => ({
    ...{ id, operation: 'video', limits: { max_image_urls: 0 }, price: price(Number(PRICE)) },
    routable: true,
    routes: providers.map((provider) => ({
      provider,
      upstream_model: `m-of-${provider}`,
      ...(provider === 'two' && { cost: price(COST_OF_TWO) }),
    })),
  });
  const catalog = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  const models = [model('vid-pair', 'one', 'two'), model('vid-gone', 'gone', 'two')];
  writeFileSync(catalog, JSON.stringify({ models }));
  process.env.TEST_ONE_KEYS = KEYS_OF_ONE.join(',');
  process.env.TEST_TWO_KEYS = KEY_OF_TWO;
  process.env.TEST_GONE_KEYS = 'gone-key';
  settings = {
    ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: catalog, EGRESS_ALLOW: '127.0.0.1' },
    TASK_TICK_MS: String(DAY_MS),
  };
  gateway = await startTestGateway(settings);
});
beforeEach(async () => {
  process.env.TEST_ONE_KEYS = KEYS_OF_ONE.join(',');
  await gateway.reload();
  one.clear();
  two.clear();
});
afterAll(async () => {
  for (const id of ['ONE', 'TWO', 'GONE']) Reflect.deleteProperty(process.env, `TEST_${id}_KEYS`);
  await gateway.expectCleanBooks();
  await gateway.stop();
  await Promise.all([one, two].map(({ stub }) => stub.stop()));
});

/** Takes so many steps of all tasks. */
async function run(times = STEPS, by = gateway): Promise<void> {
  const worker = by.app.get(TaskWorker);
  for (let time = 0; time < times; time += 1) {
    await gateway.dataSource.query('UPDATE task_work SET due_at = now()');
    await worker.tick();
    await worker.whenIdle();
  }
}

async function submitted(model = 'vid-pair', route?: string) {
  const videos = await VideoHarness.open(gateway, CREDIT);
  const headers = route === undefined ? undefined : { 'x-gateway-route': route };
  const { id } = await videos.submitted({ model, prompt: 'The sea', seconds: '5' }, headers);
  return { videos, id };
}

interface ShownTask {
  readonly route: { readonly provider: string; readonly upstream_model: string };
  readonly task_status: string;
  readonly cost_microusd: string | null;
  readonly attempts: readonly { readonly provider: string; readonly outcome: string }[];
}
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const shown = async (id: string) =>
  (await send(`${gateway.url}/admin/tasks/${id}`, { headers: ADMIN })).json as ShownTask;

async function expectMade({ videos, id }: Awaited<ReturnType<typeof submitted>>): Promise<void> {
  expect(await videos.read(id)).toMatchObject({ status: 'completed' });
  expect((await videos.content(id)).bytes).toEqual(MADE_VIDEO);
  expect(await videos.balance()).toMatchObject({ available: CREDIT - PRICE, held: 0n });
}

describe('a task at a provider with several keys', () => {
  it.each([
    ['has no balance', status(402)],
    ['is revoked', status(401)],
    ['is at its rate', status(429, { 'retry-after': '30' })],
  ])('is made with the next key where one %s, and asked about with that', async (_what, reply) => {
    const [refused, accepted] = KEYS_OF_ONE;
    one.replies.set(refused, reply);
    const all = await Promise.all(Array.from({ length: 6 }, () => submitted()));
    await run();
    for (const task of all) await expectMade(task);
    expect(two.asked).toEqual([]);
    const read = one.asked.filter((line) => !line.startsWith('POST'));
    expect(new Set(read)).toEqual(new Set([`GET ${accepted}`, `DELETE ${accepted}`]));
    expect(one.submissions.filter((key) => key === accepted)).toHaveLength(6);
  });

  it('is asked about with the key of its submission by a process that starts later, whatever the order of keys', async () => {
    one.replies.set(KEYS_OF_ONE[0], status(402));
    const task = await submitted();
    await run(1);
    one.clear();
    process.env.TEST_ONE_KEYS = `new-key,${KEYS_OF_ONE.join(',')}`;
    const later = await startTestGateway({
      ...settings,
      DATABASE_URL: gateway.config.databaseUrl,
      DATA_DIR: gateway.config.dataDir,
    });
    await run(STEPS, later);
    await later.stop();
    await expectMade(task);
    expect(new Set(one.asked)).toEqual(
      new Set([`GET ${KEYS_OF_ONE[1]}`, `DELETE ${KEYS_OF_ONE[1]}`]),
    );
  });

  it('waits while the key of its submission is gone, and no other key is asked', async () => {
    one.replies.set(KEYS_OF_ONE[0], status(402));
    const task = await submitted();
    await run(1);
    one.clear();
    process.env.TEST_ONE_KEYS = `${KEYS_OF_ONE[0]},another-key`;
    await gateway.reload();
    await run();
    expect(one.asked).toEqual([]);
    expect(await task.videos.read(task.id)).toMatchObject({ status: 'in_progress' });
    process.env.TEST_ONE_KEYS = `another-key,${KEYS_OF_ONE[1]}`;
    await gateway.reload();
    await run();
    await expectMade(task);
  });
});

describe('a task of a model with several routes', () => {
  it.each([
    ['refuses our keys', status(403)],
    ['is at its rate', status(429)],
    ['says that it is overloaded', status(503)],
  ])('goes to the next route where the first %s, and is recorded there', async (_what, reply) => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, reply);
    const task = await submitted();
    await run();
    await expectMade(task);
    expect([...one.submissions].sort()).toEqual([...KEYS_OF_ONE]);
    expect(two.submissions).toEqual([KEY_OF_TWO]);
    const record = await shown(task.id);
    expect(record).toMatchObject({ route: { provider: 'two', upstream_model: 'm-of-two' } });
    expect(record.cost_microusd).toBe(String(COST_OF_TWO));
    const tried = record.attempts.map(({ provider }) => provider);
    expect(tried.slice(0, 3)).toEqual(['one', 'one', 'two']);
    expect(new Set(tried.slice(3))).toEqual(new Set(['two']));
  });

  it('goes to the next route where the first cannot be reached', async () => {
    const task = await submitted('vid-gone');
    await run();
    await expectMade(task);
    expect(two.submissions).toEqual([KEY_OF_TWO]);
  });

  it.each([
    ['an answer that is lost', lost],
    ['a failure that says nothing', status(500)],
    ['a gateway between that fails', status(502)],
  ])('is never sent elsewhere after %s', async (_what, reply) => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, reply);
    const { videos, id } = await submitted();
    await run();
    await videos.unknown(id);
    expect(one.submissions).toHaveLength(1);
    expect(two.asked).toEqual([]);
    expect(await videos.balance()).toMatchObject({ held: PRICE });
    expect(await shown(id)).toMatchObject({ route: { provider: 'one' } });
    await postJson(`${gateway.url}/admin/tasks/${id}/resolve`, ADMIN, { outcome: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
  });

  it.each([
    ['order=route-2', ['two'], []],
    ['exclude=route-1', ['two'], []],
    ['exclude=route-2', [], ['one']],
  ])('takes x-gateway-route: %s', async (route, atTwo, atOne) => {
    const task = await submitted('vid-pair', route);
    await run();
    await expectMade(task);
    expect([two.submissions.length, one.submissions.length]).toEqual([atTwo.length, atOne.length]);
  });

  it('never goes to a route that the caller excludes: it waits, and is made where there is room again', async () => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, status(429));
    const task = await submitted('vid-pair', 'exclude=route-2');
    await run(2);
    expect(two.asked).toEqual([]);
    expect(await shown(task.id)).toMatchObject({
      task_status: 'queued',
      route: { provider: 'one' },
    });
    one.clear();
    await run();
    await expectMade(task);
  });

  it('waits where one route has no room and the other refuses our key, and begins at the first one again', async () => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, status(429));
    two.replies.set(KEY_OF_TWO, status(401));
    const task = await submitted();
    await run(1);
    expect(await shown(task.id)).toMatchObject({ task_status: 'queued' });
    one.clear();
    await run();
    await expectMade(task);
    expect(await shown(task.id)).toMatchObject({ route: { provider: 'one' }, cost_microusd: null });
  });

  it('fails without a charge where every route refuses our key', async () => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, status(401));
    two.replies.set(KEY_OF_TWO, status(402));
    const { videos, id } = await submitted();
    await run();
    expect(await videos.read(id)).toMatchObject({ status: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
  });
});
