import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/common/json-object.js';
import type { TestAccount } from '../support/gateway.js';
import { postJson, send } from '../support/http-answer.js';
import { until } from '../support/until.js';
import { CHARGE, NativeModel, OF_VENDOR, type SeenResponse } from './native-model.js';
import { ENCRYPTED, RESPONSE, RESPONSE_EVENTS } from './openai-response-wires.js';

type Ended = SeenResponse['last'];

let model: NativeModel;
let account: TestAccount;

beforeAll(async () => {
  model = await NativeModel.start({ TASK_TICK_MS: '50' });
});
beforeEach(async () => {
  account = await model.gateway.account();
});
afterAll(() => model.stop());

const urlOf = (id: unknown) => `${model.gateway.url}/v1/responses/${String(id)}`;

/** The id of a response that is made in the background. */
async function started(body: object): Promise<unknown> {
  const answer = await model.post(account, { background: true, ...body });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as JsonObject).id;
}

async function ended(id: unknown): Promise<Ended> {
  let response: Ended | undefined;
  await until(async () => {
    const { json } = await send(urlOf(id), { headers: account.headers });
    response = json as Ended;
    return response.status !== 'queued' && response.status !== 'in_progress';
  });
  return response!;
}

it('a response in the background has the items of a vendor of the same protocol, as one in the foreground', async () => {
  model.answers(RESPONSE);
  const { id: shownId } = (await (await model.post(account, {})).json()) as Ended;
  const shown = await ended(shownId);
  model.streams(RESPONSE_EVENTS);
  const response = await ended(await started({}));
  expect(JSON.stringify(response)).not.toMatch(OF_VENDOR);
  const comparable = ({ output }: Ended) =>
    output.map(({ id, ...item }) => ({ ...item, id: String(id).replace(/_[0-9a-f]{32}$/, '') }));
  expect(comparable(response)).toEqual(comparable(shown));
  expect(response.output.map(({ type }) => type)).toContain('novelty');
  expect(response).toMatchObject({
    status: 'completed',
    model: 'native',
    usage: { cost_microusd: Number(CHARGE) },
  });
});

it('a response in the background is stored with what its vendor has encrypted, who gets it back', async () => {
  model.streams(RESPONSE_EVENTS);
  const { id } = await ended(await started({}));
  model.answers(RESPONSE);
  const outputs = [
    { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
  ];
  const next = await model.post(account, { previous_response_id: id, input: outputs });
  expect(next.status).toBe(200);
  const { input } = model.sentBody();
  expect(input[1]).toMatchObject({ id: 'rs_0f2a9c7d1b', encrypted_content: ENCRYPTED });
  expect(input.map(({ type }) => type)).toContain('novelty');
});

it('a response in the background that is cancelled has what its vendor had said (G-24)', async () => {
  const isText = ({ type }: JsonObject) => type === 'response.output_text.delta';
  model.streams(RESPONSE_EVENTS.slice(0, RESPONSE_EVENTS.findIndex(isText) + 1), true);
  const before = model.upstream.seen.length;
  const id = await started({});
  await until(() => model.upstream.seen.length > before);
  await until(async () => {
    const { json } = await postJson(`${urlOf(id)}/cancel`, account.headers, {});
    return (json as JsonObject).status === 'cancelled';
  });
  const response = await ended(id);
  expect(response).toMatchObject({
    status: 'cancelled',
    usage: { cost_microusd: expect.any(Number) },
  });
  expect(response.output.at(-1)).toMatchObject({
    type: 'message',
    status: 'incomplete',
    content: [{ type: 'output_text', text: expect.stringContaining('H') }],
  });
  expect((await model.gateway.balance(account.accountId)).held).toBe(0n);
});
