import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/common/json-object.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

/** The fields of a response that the tests read. */
interface Made {
  readonly id: string;
  readonly status: string;
  readonly store: boolean;
  readonly output: { id: string; type: string; content: { text: string }[]; call_id: string }[];
  readonly usage: { input_tokens: number; cost_microusd: number };
  readonly billing: { charged_microusd: string; held_microusd: string; execution_id: string };
}

let gateway: GatewayFromOutside;
let headers: Record<string, string>;
let other: Record<string, string>;

beforeAll(async () => {
  gateway = await sharedGateway();
  [{ headers }, { headers: other }] = await Promise.all([gateway.account(), gateway.account()]);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const url = (path = '') => `${gateway.url}/v1/responses${path}`;
const post = (body: object, by = headers, more: object = {}): Promise<Answer> =>
  postJson(url(), { ...by, ...more }, { model: 'gen-5', ...body });
const read = (path: string, by = headers, method = 'GET') =>
  send(url(path), { headers: by, method });

/** A response that is accepted. */
async function made(body: object): Promise<Made> {
  const answer = await post(body);
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  return answer.json as Made;
}

describe('stored responses', () => {
  it('are read as they were answered, by their account only', async () => {
    const response = await made({ input: 'Say hello' });
    expect((await read(`/${response.id}`)).json).toEqual(response);
    expect(errorOf(await read(`/${response.id}`, other))).toMatchObject({ code: 'not_found' });
  });

  it('list what they were made from', async () => {
    const first = await made({ input: 'one' });
    const second = await made({ input: 'two', previous_response_id: first.id });
    const all = (await read(`/${second.id}/input_items?order=asc`)).json as { data: JsonObject[] };
    expect(all.data).toMatchObject([
      { role: 'user', content: [{ type: 'input_text', text: 'one' }] },
      { id: first.output[0]?.id, role: 'assistant' },
      { role: 'user', content: [{ text: 'two' }] },
    ]);
    const page = (await read(`/${second.id}/input_items?limit=1`)).json as JsonObject;
    expect(page).toMatchObject({ data: [all.data[2]], has_more: true, last_id: all.data[2]?.id });
    const next = await read(`/${second.id}/input_items?limit=2&after=${all.data[2]?.id as string}`);
    expect(next.json).toMatchObject({ data: [all.data[1], all.data[0]], has_more: false });
  });

  it('are gone for readers and callers once they are deleted', async () => {
    const { id, output } = await made({ input: 'Say hello' });
    expect((await read(`/${id}`, other, 'DELETE')).status).toBe(404);
    expect((await read(`/${id}`, headers, 'DELETE')).json).toEqual({
      id,
      object: 'response.deleted',
      deleted: true,
    });
    expect((await read(`/${id}`)).status).toBe(404);
    const item = { type: 'item_reference', id: output[0]?.id };
    expect(errorOf(await post({ input: [item] })).code).toBe('previous_response_not_found');
  });

  it('are cancelled only in the background', async () => {
    const { id } = await made({ input: 'Say hello' });
    expect(errorOf(await postJson(url(`/${id}/cancel`), headers, {}))).toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('POST /v1/responses/input_tokens', () => {
  it('counts the whole conversation, and charges nothing', async () => {
    const { id } = await made({ input: 'Say hello' });
    const body = { model: 'gen-5', input: 'And again', previous_response_id: id };
    const answer = await postJson(url('/input_tokens'), headers, body);
    expect(answer.json).toEqual({
      object: 'response.input_tokens',
      input_tokens: expect.any(Number),
    });
    const alone = await postJson(url('/input_tokens'), headers, {
      ...body,
      previous_response_id: null,
    });
    const tokens = ({ json }: Answer) => (json as { input_tokens: number }).input_tokens;
    expect(tokens(answer)).toBeGreaterThan(tokens(alone));
  });
});

describe('a quote of /v1/responses', () => {
  it('holds what the call holds', async () => {
    const body = { model: 'gen-5', input: 'Say hello', max_output_tokens: 100 };
    const quote = await postJson(`${gateway.url}/v1/quotes`, headers, {
      path: '/v1/responses',
      body,
    });
    const { billing } = await made(body);
    expect(quote.json).toMatchObject({ object: 'quote', hold_microusd: billing.held_microusd });
  });
});
