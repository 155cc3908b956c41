import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../../support/stub-speech.js';
import type { StubUpstream } from '../../support/stub-upstream.js';

let stub: StubUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  stub = await startStubSpeech();
  gateway = await startTestGateway({ ...servedBy(stub), PROVIDER_MAX_CONNECTIONS: '1' });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await stub.stop();
});

const speak = ({ headers }: TestAccount) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO);

describe('PROVIDER_MAX_CONNECTIONS', () => {
  it('refuses a call beyond it with 503 and Retry-After before its hold, and serves the next when one is free (G-100)', async () => {
    const [one, other] = [await gateway.account(), await gateway.account()];
    const asked = new Promise<ServerResponse>((resolve) => {
      stub.reply = resolve;
    });
    const slow = speak(one);
    const provider = await asked;
    const refused = await speak(other);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(refused.json).toMatchObject({ error: { code: 'service_unavailable', param: null } });
    const list = await fetch(`${gateway.url}/v1/executions`, { headers: other.headers });
    expect(await list.json()).toMatchObject({ data: [] });
    provider.end(MP3_HEAD);
    expect((await slow).status).toBe(200);
    stub.reply = (response) => response.end(MP3_HEAD);
    expect((await speak(other)).status).toBe(200);
  });
});
