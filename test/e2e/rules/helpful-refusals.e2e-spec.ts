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
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});

describe('a path that is not offered', () => {
  it.each([
    ['/v1/conversations', /POST \/v1\/responses/],
    ['/v1/conversations/conv_1', /previous_response_id/],
    ['/v1/completions', /POST \/v1\/chat\/completions/],
    ['/v1/images/variations', /POST \/v1\/images\/edits/],
    ['/v1/videos/task_1/remix', /POST \/v1\/videos;/],
    ['/v1/audio/translations', /POST \/v1\/audio\/transcriptions/],
    ['/v1/files', /not offered/],
    ['/v1/batches', /one by one/],
    ['/chat/completions', /begin with \/v1/],
    ['/v1/v1/chat/completions', /ends with \/v1 already/],
    ['/conversations', /begin with \/v1.*POST \/v1\/responses/],
    ['/v1/v1/conversations', /ends with \/v1 already.*previous_response_id/],
    ['/v1//chat/completions', /two slashes/],
    ['//v1/conversations', /two slashes.*previous_response_id/],
    ['//chat/completions', /two slashes.*begin with \/v1/],
    ['/v1/complete', /POST \/v1\/messages/],
    ['/complete', /begin with \/v1.*POST \/v1\/messages/],
    ['/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM', /POST \/v1\/audio\/speech/],
    ['/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream', /POST \/v1\/audio\/speech/],
    ['/v1/speech-to-text', /POST \/v1\/audio\/transcriptions/],
    ['/v1/sound-generation', /POST \/v1\/audio\/sound-effects/],
    ['/v2/voices', /GET \/v1\/voices/],
    ['/v1/rerank', /Reranking is not offered/],
    ['/rerank', /Reranking is not offered/],
    ['/v1/fim/completions', /POST \/v1\/chat\/completions/],
    ['/v1/generation?id=gen-1', /GET \/v1\/executions\/\{id\}/],
    ['/openai/v1/chat/completions', /ends with \/v1 here, without \/openai\./],
    ['/openai/deployments/gpt/chat/completions?api-version=1', /not the one for Azure/],
    ['/v1beta/models/gemini-2.5-flash:generateContent', /Gemini API is not offered/],
    ['/api/v1/chat/completions', /without \/api\./],
    ['/api/tags', /Ollama API is not offered/],
    ['/api/chat', /Ollama/],
    ['/v1', /GET \/v1\/models lists the models/],
    ['/v1/', /GET \/v1\/models lists the models/],
  ])('%s answers 404 and what to use instead', async (path, advice) => {
    const answer = await postJson(gateway.url + path, {}, {});
    expect(answer.status).toBe(404);
    expect(errorOf(answer)).toMatchObject({ code: 'not_found', param: null });
    expect(errorOf(answer).message).toMatch(advice);
  });

  it.each(['/v1/response', '/v1/nothing', '/v1/chat/completionss', '/v1//nothing', '/api/nothing'])(
    'has no advice for %s',
    async (path) => {
      const answer = await postJson(gateway.url + path, {}, {});
      expect([answer.status, errorOf(answer).message]).toEqual([
        404,
        'There is no such path. GET /docs and GET /openapi.json describe all endpoints.',
      ]);
    },
  );
});

describe('a method that a path does not have', () => {
  it.each([
    ['GET', '/v1/chat/completions', /^GET is not allowed here; use POST\./],
    ['GET', '/v1/videos', /GET \/v1\/tasks lists videos/],
    ['DELETE', '/v1/videos/task_1', /cannot be deleted.*cancel/],
    ['DELETE', '/v1/models/gen-5', /cannot be deleted/],
    ['POST', '/v1/models/gen-5:generateContent', /Gemini API is not offered/],
    ['POST', '/v1/models/gen-5:streamGenerateContent', /Gemini API is not offered/],
    ['GET', '/v1/audio/speech', /^GET is not allowed here; use POST\.$/],
    ['OPTIONS', '/v1/chat/completions', /CORS_ORIGINS/],
  ])('%s %s answers 405 and what to do instead', async (method, path, advice) => {
    const answer = await send(gateway.url + path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toMatch(/GET|POST/);
    expect(errorOf(answer).message).toMatch(advice);
  });
});

describe('a key that cannot be used', () => {
  it.each([
    ['x-api-key', 'sk-some-key'],
    ['xi-api-key', 'sk-some-key'],
    ['x-goog-api-key', 'sk-some-key'],
    ['authorization', 'sk-some-key'],
    ['authorization', 'Bearer Bearer sk-some-key'],
    ['authorization', 'Bearer sk-unknown'],
  ])('in %s: %s is told how a key is sent', async (header, value) => {
    const answer = await send(`${gateway.url}/v1/models`, { headers: { [header]: value } });
    expect(answer.status).toBe(401);
    expect(errorOf(answer).message).toMatch(/Send it in the header `Authorization: Bearer <key>`/);
  });
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

describe('faults requested from the sandbox', () => {
  it('affect only their callers: the sandbox has no breaker, and records name it', async () => {
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
