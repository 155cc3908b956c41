import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { StubUpstream } from '../../support/stub-upstream.js';

let upstream: StubUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await StubUpstream.start();
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
  });
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
  await upstream.stop();
});

describe('a path that is not offered', () => {
  it.each([
    ['/v1/responses', /openai\.chat\(model\)/],
    ['/v1/responses/resp_1', /POST \/v1\/chat\/completions/],
    ['/v1/completions', /POST \/v1\/chat\/completions/],
    ['/v1/embeddings', /not offered; GET \/v1\/models lists/],
    ['/v1/images/edits', /POST \/v1\/images\/generations/],
    ['/v1/videos/task_1/remix', /POST \/v1\/videos;/],
    ['/v1/audio/translations', /POST \/v1\/audio\/transcriptions/],
    ['/v1/files', /not offered/],
    ['/v1/batches', /one by one/],
    ['/chat/completions', /begin with \/v1/],
    ['/v1/v1/chat/completions', /ends with \/v1 already/],
  ])('%s answers 404 and what to use instead', async (path, advice) => {
    const answer = await postJson(gateway.url + path, {}, {});
    expect(answer.status).toBe(404);
    expect(errorOf(answer)).toMatchObject({ code: 'not_found', param: null });
    expect(errorOf(answer).message).toMatch(advice);
  });

  it.each(['/v1/response', '/v1/nothing', '/v1/chat/completionss'])(
    'has no advice for %s',
    async (path) => {
      const answer = await postJson(gateway.url + path, {}, {});
      expect([answer.status, errorOf(answer).message]).toEqual([404, 'No such resource.']);
    },
  );
});

describe('Retry-After', () => {
  const chat = async () => {
    const { headers } = await gateway.account();
    return postJson(`${gateway.url}/v1/chat/completions`, headers, {
      model: 'gen-5',
      messages: [{ role: 'user', content: 'Hi' }],
    });
  };

  it('stands on a 503 of an upstream that names none, and on the open breaker’s', async () => {
    upstream.reply = (response) => response.writeHead(503).end('{}');
    const first = await chat();
    expect([first.status, errorOf(first).code]).toEqual([503, 'provider_unavailable']);
    expect(first.headers.get('retry-after')).toBe('5');
    const before = upstream.seen.length;
    for (let count = 0; count < 10; count += 1) await chat();
    const refused = await chat();
    expect(upstream.seen.length - before).toBeLessThan(11);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
  });
});

describe('faults asked of the sandbox', () => {
  it('stay with those who asked: it has no breaker, and records name the sandbox', async () => {
    const { headers } = await gateway.account();
    const speak = (input: string) =>
      postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, input });
    for (let count = 0; count < 12; count += 1) {
      expect((await speak('[[sandbox:status=500]]')).status).toBe(502);
    }
    const good = await speak('Hello');
    expect(good.status).toBe(200);
    const id = good.headers.get('x-gateway-execution-id') ?? '';
    const operator = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };
    const { json } = await send(`${gateway.url}/admin/executions/${id}`, operator);
    expect(json).toMatchObject({ status: 'succeeded', provider: 'sandbox' });
  });
});
