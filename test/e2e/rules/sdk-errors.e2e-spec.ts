import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { type TestAccount } from '../../support/gateway.js';
import { errorOf, postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

let gateway: GatewayFromOutside;
let account: TestAccount;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const speak = (fields: object = {}, headers: Record<string, string> = account.headers) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
const magic = (word: string) => ({ input: `[[sandbox:${word}]]` });

describe('what the provider says', () => {
  it.each([400, 401, 402, 403, 404, 422, 429, 500, 502, 503])(
    'with status %i stays inside (ERR-41, G-13)',
    async (status) => {
      const answer = await speak(magic(`status=${status}]][[sandbox:code=Secret-Word`));
      expect([401, 403]).not.toContain(answer.status);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      // Our own word for who made it (decision G-110).
      const headers = [...answer.headers].filter(([name]) => name !== 'x-gateway-sandbox');
      const text = answer.bytes.toString() + JSON.stringify(headers);
      for (const leak of ['sandbox', 'eleven', 'secret-word', '127.0.0.1', 'xi-api-key', 'axios']) {
        expect(text.toLowerCase()).not.toContain(leak);
      }
    },
  );
});

describe('the OpenAI SDK', () => {
  const sdk = (apiKey: string) =>
    new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const ask = (fields: object, apiKey = account.key) =>
    sdk(apiKey).audio.speech.create({ ...HELLO, ...fields }) as Promise<unknown>;

  it.each([
    ['400', { speed: 9 }, OpenAI.BadRequestError, 'invalid_request'],
    ['404', { model: 'nope' }, OpenAI.NotFoundError, 'model_not_available'],
    ['429', magic('status=429'), OpenAI.RateLimitError, 'provider_rate_limited'],
    ['502', magic('status=500'), OpenAI.InternalServerError, 'provider_http_error'],
  ])('raises its typed error of %s with our code (ERR-43)', async (_status, fields, type, code) => {
    const error: unknown = await ask(fields).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ code });
    expect((error as { requestID: string }).requestID).toMatch(/^exec_/);
  });

  it('raises its typed errors of 401 and 403 (ERR-43)', async () => {
    await expect(ask({}, 'sk-wrong')).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    const key = await gateway.keyOf(account.accountId, { allowedModels: [] });
    await expect(ask({}, key)).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
  });

  it('gets the audio of speech', async () => {
    const audio = await sdk(account.key).audio.speech.create(HELLO);
    expect((await audio.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  });

  it('does not retry a timeout, whose work may be paid for (ERR-39, G-51)', async () => {
    const answer = await speak(magic('status=504'));
    expect(errorOf(answer).code).toBe('provider_timeout');
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });
});
