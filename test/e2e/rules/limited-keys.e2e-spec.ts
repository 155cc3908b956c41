import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const KEYS = ['first-key-of-acme', 'second-key-of-acme'] as const;
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'any',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 },
};
const PRICE = {
  unit: 'token',
  input_micro_usd_per_million: 1_000_000,
  output_micro_usd_per_million: 1_000_000,
};
const CREDIT = 1_000_000n;
const CHARGE = 200n;

const file = join(mkdtempSync(join(tmpdir(), 'shim-keys-')), 'catalog.json');
let upstream: StubUpstream;
let gateway: TestGateway;
/** What the provider says to each key; by default an answer. */
let replies: Record<string, (response: ServerResponse) => unknown>;

async function limitKeys(limits: object | undefined): Promise<void> {
  const provider = {
    id: 'acme',
    protocol: 'openai',
    base_url: `${upstream.url}/v1`,
    api_key_env: 'ACME_KEYS',
    ...(limits && { key_limits: limits }),
  };
  const routes = [{ provider: 'acme', upstream_model: 'm' }];
  const limitsOfModel = { max_output_tokens: 1_000 };
  const model = { id: 'gen-keyed', operation: 'chat', price: PRICE, limits: limitsOfModel, routes };
  writeFileSync(file, JSON.stringify({ providers: [provider], models: [model] }));
  // The first one is read at the start.
  await (gateway as TestGateway | undefined)?.reload();
}

beforeAll(async () => {
  process.env.ACME_KEYS = KEYS.join(',');
  upstream = await StubUpstream.start();
  await limitKeys({ requests_per_minute: 3 });
  gateway = await startTestGateway({ SANDBOX: 'off', CATALOG_FILE: file });
});
afterAll(async () => {
  delete process.env.ACME_KEYS;
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  replies = {};
  upstream.seen.length = 0;
  upstream.reply = (response, { headers }) => {
    const reply = replies[keyOf(headers.authorization)];
    if (reply) reply(response);
    else response.end(JSON.stringify(COMPLETION));
  };
});

const keyOf = (authorization: unknown) => String(authorization).replace('Bearer ', '');
const sentWith = () => upstream.seen.map(({ headers }) => keyOf(headers.authorization));

/** So many calls at once of a new account, and what is left of its money. */
async function spend(count: number) {
  const { accountId, headers } = await gateway.account(CREDIT);
  const body = { model: 'gen-keyed', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 200 };
  const calls = Array.from({ length: count }, () =>
    postJson(`${gateway.url}/v1/chat/completions`, headers, body),
  );
  const answers = await Promise.all(calls);
  const { available, held } = await gateway.balance(accountId);
  expect(held).toBe(0n);
  return { answers, spent: CREDIT - available };
}
const admin = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };
const toldKeys = async () => {
  const { json } = await send(`${gateway.url}/admin/providers`, admin);
  const { data } = json as { data: { id: string; keys: { list: object[] } }[] };
  return data.find(({ id }) => id === 'acme')!.keys.list;
};

describe('keys of a provider with limits', () => {
  it('take no more calls at once than they may, and the rest is answered 429 without a charge', async () => {
    const { answers, spent } = await spend(10);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(4);
    for (const { json, headers } of refused) {
      expect(json).toMatchObject({ error: { code: 'provider_rate_limited' } });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
    }
    expect(spent).toBe(6n * CHARGE);
    for (const key of KEYS) expect(sentWith().filter((own) => own === key)).toHaveLength(3);
  });

  it('are limited anew when the file is read again, and what was used still counts', async () => {
    await limitKeys({ requests_per_minute: 4 });
    const { answers, spent } = await spend(6);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(spent).toBe(2n * CHARGE);
    await limitKeys(undefined);
    expect((await spend(6)).spent).toBe(6n * CHARGE);
  });

  it('serve a call with the next key where one has no balance, within one hold and one charge', async () => {
    replies[KEYS[0]] = (response) => response.writeHead(402).end('{"error":{}}');
    const { answers, spent } = await spend(8);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(spent).toBe(8n * CHARGE);
    expect(sentWith().filter((own) => own === KEYS[1])).toHaveLength(8);
  });

  it('are shown to operators by number: why they were refused, how much they are used', async () => {
    await limitKeys({ requests_per_minute: 100, concurrent: 5 });
    expect(await toldKeys()).toMatchObject([
      { key: 'key-1', requests_per_minute: 100, concurrent: 5, running: 0 },
      { key: 'key-2', refused_as: null, refused_in_processes: 0 },
    ]);
    replies[KEYS[1]] = (response) => response.writeHead(401).end('{"error":{}}');
    await limitKeys(undefined);
    for (let count = 0; count < 20; count += 1) await spend(1);
    const told = await toldKeys();
    expect(told[1]).toMatchObject({ key: 'key-2', refused_as: 'account' });
    const metrics = (await send(`${gateway.url}/metrics`)).bytes.toString();
    expect(metrics).toContain('gateway_provider_key_refused{provider="acme",key="key-2"} 1');
    for (const key of KEYS) expect(JSON.stringify(told) + metrics).not.toContain(key);
  });
});
