import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestAccount } from '../support/gateway.js';
import { errorOf, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { VideoHarness } from '../support/video-harness.js';
import { type GatewayFromOutside, sharedGateway } from '../support/shared-gateway.js';

const NOT_FOUND = ['task_not_found', 'video_not_found', 'not_found'];

let gateway: GatewayFromOutside;
let stranger: TestAccount;
/** A finished video and a call of another account. */
let task: string;
let execution: string;
let owner: VideoHarness;

beforeAll(async () => {
  gateway = await sharedGateway();
  stranger = await gateway.account();
  owner = await VideoHarness.open(gateway);
  task = (await owner.made()).id;
  const call = await postJson(`${gateway.url}/v1/audio/speech`, owner.account.headers, HELLO);
  execution = call.headers.get('x-gateway-execution-id') ?? '';
});
afterAll(() => gateway.stop());

const ask = (path: string, method: string, { headers }: TestAccount) =>
  send(`${gateway.url}${path}`, { method, headers });

it.each([
  ['GET', '/v1/tasks/TASK'],
  ['GET', '/v1/tasks/TASK/content'],
  ['GET', '/v1/tasks/TASK/deliveries'],
  ['POST', '/v1/tasks/TASK/cancel'],
  ['POST', '/v1/tasks/TASK/deliveries/DELIVERY/redeliver'],
  ['GET', '/v1/videos/TASK'],
  ['GET', '/v1/videos/TASK/content'],
  ['GET', '/v1/executions/EXECUTION'],
])("%s of another account's %s is answered as an unknown id is", async (method, pattern) => {
  const path = pattern
    .replace('TASK', task)
    .replace('EXECUTION', execution)
    .replace('DELIVERY', `whd_${'0'.repeat(32)}`);
  const foreign = await ask(path, method, stranger);
  const unknown = await ask(
    path.replace(/(?<=(task|exec)_)[0-9a-f]{32}/, 'f'.repeat(32)),
    method,
    stranger,
  );
  expect([foreign.status, unknown.status]).toEqual([404, 404]);
  expect(NOT_FOUND).toContain(errorOf(foreign).code);
  expect(errorOf(foreign)).toEqual(errorOf(unknown));
});

it('lists hold nothing of other accounts, whatever their cursor', async () => {
  for (const path of ['/v1/tasks', '/v1/executions']) {
    const own = (await ask(path, 'GET', owner.account)).json as { data: { id: string }[] };
    expect(own.data.length).toBeGreaterThan(0);
    const uuid = (own.data[0]?.id ?? '')
      .replace(/^\w+_/, '')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    for (const query of ['', `?cursor=${uuid}`, '?cursor=ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      const seen = await ask(path + query, 'GET', stranger);
      expect(seen.status === 400 || (seen.json as { data: unknown[] }).data.length === 0).toBe(
        true,
      );
    }
  }
});
