import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, send } from '../../support/http-answer.js';
import { draw, DRAW, IMAGE_CREDIT, IMAGE_PATH } from '../../support/paid-images.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const PNG_HEAD = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
/** Its base64 has more than 8 MiB. */
const LARGE = Buffer.concat([PNG_HEAD, randomBytes(9_000_000)]);
const PRICE = 10_000n;

let upstream: StubUpstream;
let gateway: TestGateway;
let who: TestAccount;

beforeAll(async () => {
  upstream = await StubUpstream.start();
  upstream.reply = (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ created: 1, data: [{ b64_json: LARGE.toString('base64') }] }));
  };
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: upstream.url,
    SANDBOX: 'off',
  });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});

async function bought(headers: Record<string, string>): Promise<Answer> {
  who = await gateway.account(IMAGE_CREDIT);
  return draw(gateway, { ...who.headers, ...headers });
}
const executionOf = ({ headers }: Answer) => headers.get('x-gateway-execution-id') ?? '';
const content = (id: string) =>
  send(`${gateway.url}/v1/executions/${id}/content`, { headers: who.headers });
const files = () =>
  gateway.dataSource.query<{ bytes: number }[]>(
    'SELECT bytes FROM kept_answer WHERE account_id = $1 AND file_id IS NOT NULL',
    [who.accountId],
  );
const available = async () => (await gateway.balance(who.accountId)).available;

describe('an image whose answer has more than 8 MiB', () => {
  it('is kept in a file where its caller asked for that, and is given again as it was', async () => {
    const first = await bought({ prefer: 'keep' });
    expect(first.status).toBe(200);
    expect(first.headers.get('x-gateway-kept')).toBeNull();
    expect(await files()).toEqual([{ bytes: first.bytes.length }]);
    const again = await content(executionOf(first));
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(again.bytes.equals(first.bytes)).toBe(true);
    expect(await available()).toBe(IMAGE_CREDIT - PRICE);
  });

  it('is kept for a caller that left before it was made, and did not ask', async () => {
    who = await gateway.account(IMAGE_CREDIT);
    const { reply } = upstream;
    const leaving = new AbortController();
    upstream.reply = (response, request) => {
      leaving.abort();
      // The gateway sees within this time that its caller has left.
      setTimeout(() => reply(response, request), 1_000);
    };
    const call = fetch(gateway.url + IMAGE_PATH, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', ...who.headers },
      body: JSON.stringify(DRAW),
    });
    await expect(call).rejects.toThrow();
    upstream.reply = reply;
    await until(async () => (await files()).length === 1);
    const list = await send(`${gateway.url}/v1/executions`, { headers: who.headers });
    const [{ id }] = (list.json as { data: [{ id: string }] }).data;
    const { data } = (await content(id)).json as { data: { b64_json: string }[] };
    expect(data[0]?.b64_json === LARGE.toString('base64')).toBe(true);
    expect(await available()).toBe(IMAGE_CREDIT - PRICE);
  });

  it('binds an idempotency key without it', async () => {
    const key = { prefer: 'keep', 'idempotency-key': 'large' };
    const first = await bought(key);
    expect([first.status, first.headers.get('x-gateway-kept')]).toEqual([200, 'false']);
    const again = await draw(gateway, { ...who.headers, ...key });
    expect([again.status, errorOf(again)]).toMatchObject([409, { code: 'conflict' }]);
    expect(await available()).toBe(IMAGE_CREDIT - PRICE);
    expect(await files()).toEqual([]);
  });
});
