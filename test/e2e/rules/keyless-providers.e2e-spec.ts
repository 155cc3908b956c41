import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { until } from '../../support/until.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const HELLO = { role: 'user', content: 'Hello' };
const TOKEN_PRICE = {
  unit: 'token',
  input_micro_usd_per_million: 10_000,
  output_micro_usd_per_million: 20_000,
};
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'llama',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 },
};

let upstream: StubUpstream;
let gateway: TestGateway;

/** A provider without a key of each protocol, and a model of it. */
function overlay({ url }: StubUpstream): object {
  const provider = (id: string, protocol: string, baseUrl: string) => ({
    id,
    protocol,
    base_url: baseUrl,
    api_key_env: '',
  });
  const route = (id: string, upstreamModel: string) => [
    { provider: id, upstream_model: upstreamModel },
  ];
  return {
    providers: [
      provider('local-chat', 'openai', `${url}/v1`),
      provider('local-messages', 'anthropic', url),
      provider('local-speech', 'elevenlabs', url),
      provider('local-video', 'openai-video', `${url}/v1`),
      provider('local-songs', 'ttapi', url),
    ],
    models: [
      {
        id: 'gen-local',
        operation: 'chat',
        routes: route('local-chat', 'llama'),
        price: TOKEN_PRICE,
        limits: { max_output_tokens: 8000 },
      },
      {
        id: 'gen-messages',
        operation: 'chat',
        routes: route('local-messages', 'local'),
        price: TOKEN_PRICE,
        limits: { max_output_tokens: 8000 },
      },
      { id: 'aud-v4', routes: route('local-speech', 'local-voice') },
      { id: 'vid-motion', routes: route('local-video', 'local-video') },
      { id: 'song-lyrics', routes: route('local-songs', 'suno/lyrics') },
    ],
  };
}

beforeAll(async () => {
  upstream = await StubUpstream.start();
  const catalogFile = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  writeFileSync(catalogFile, JSON.stringify(overlay(upstream)));
  gateway = await startTestGateway({
    SANDBOX: 'off',
    CATALOG_FILE: catalogFile,
    TASK_TICK_MS: '50',
  });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

describe('a provider whose api_key_env is empty', () => {
  it('gets requests without a key, and its work is sold', async () => {
    const { headers } = await gateway.account();
    upstream.reply = (response) => response.end(JSON.stringify(COMPLETION));
    const answer = await postJson(`${gateway.url}/v1/chat/completions`, headers, {
      model: 'gen-local',
      messages: [HELLO],
    });
    expect(answer).toMatchObject({
      status: 200,
      json: { model: 'gen-local', choices: [{ message: { content: 'Hi' } }] },
    });
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe('3');
    expect(upstream.only.headers).not.toHaveProperty('authorization');
    expect(JSON.parse(upstream.only.body.toString())).toMatchObject({ model: 'llama' });
  });

  it.each([
    ['anthropic', '/chat/completions', { model: 'gen-messages', messages: [HELLO] }],
    ['elevenlabs', '/audio/speech', { model: 'aud-v4', input: 'Hello', voice: 'Adam' }],
    ['openai-video', '/videos', { model: 'vid-motion', prompt: 'Rain', seconds: '5' }],
    ['ttapi', '/music/generations', { model: 'song-lyrics', prompt: 'Rain' }],
  ])('gets no header of a key where it speaks %s', async (_protocol, path, body) => {
    const { headers } = await gateway.account();
    upstream.reply = (response) => response.writeHead(400).end('{}');
    await postJson(`${gateway.url}/v1${path}`, headers, body);
    await until(() => upstream.seen.length > 0);
    for (const name of ['authorization', 'x-api-key', 'xi-api-key', 'tt-api-key']) {
      expect(upstream.seen[0]?.headers).not.toHaveProperty(name);
    }
  });
});
