import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StubUpstream } from '../../support/stub-upstream.js';
import { RawEvents } from '../../support/event-stream.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';

const CREDIT = 10_000_000n;
const ASK = { model: 'gen-5', messages: [{ role: 'user', content: 'Hello' }] };

let upstream: StubUpstream;
let backup: StubUpstream;
let gateway: TestGateway;
let url: string;

beforeAll(async () => {
  [upstream, backup] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
  const catalogFile = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  process.env.BACKUP_KEY = 'backup-key';
  writeFileSync(catalogFile, JSON.stringify(overlay(backup.url)));
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    CATALOG_FILE: catalogFile,
  });
  url = `${gateway.url}/v1/chat/completions`;
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
  await Promise.all([upstream.stop(), backup.stop()]);
});

/** A second provider, and a model that falls back on it. */
function overlay(backupUrl: string): object {
  const routes = [
    { provider: 'openai', upstream_model: 'first' },
    { provider: 'backup', upstream_model: 'second' },
  ];
  return {
    providers: [
      {
        id: 'backup',
        protocol: 'openai',
        base_url: `${backupUrl}/v1`,
        api_key_env: 'BACKUP_KEY',
      },
    ],
    models: [{ id: 'gen-5-mini', routes }],
  };
}

const chunk = (content: string, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'gpt-5-2026-vendor',
  system_fingerprint: 'fp_vendor',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  ...more,
});

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

/** Answers with the pieces as they are, each in a packet of its own. */
function streams(...pieces: (string | Buffer)[]) {
  return async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'up-1' });
    for (const piece of pieces) {
      response.write(piece);
      await sleep(2);
    }
    response.end();
  };
}

async function read(account: TestAccount, fields: object = {}): Promise<RawEvents> {
  const events = await RawEvents.post(url, account.headers, { ...ASK, stream: true, ...fields });
  expect(events.status).toBe(200);
  return events;
}

async function spent({ accountId }: TestAccount): Promise<bigint> {
  const { available, held } = await gateway.balance(accountId);
  expect(held).toBe(0n);
  return CREDIT - available;
}

describe('whatever the provider sends', () => {
  it('shows our name of the model and nothing else of the vendor', async () => {
    const account = await gateway.account();
    upstream.reply = streams(event(chunk('Hi', { provider: 'vendor' })), 'data: [DONE]\n\n');
    const events = await read(account);
    expect(events.data.join()).not.toMatch(/vendor|gpt/);
    expect(events.chunks[0]).toMatchObject({ model: 'gen-5', created: 1_700_000_000 });
    upstream.reply = (response) =>
      response.end(
        JSON.stringify({
          ...chunk(''),
          object: 'chat.completion',
          choices: [{ message: { content: 'Hi' } }],
        }),
      );
    const whole = await postJson(url, account.headers, ASK);
    expect(whole.bytes.toString()).not.toMatch(/vendor|gpt/);
    expect(whole.json).toMatchObject({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { completion_tokens: 1 },
    });
  });

  it('keeps characters whose bytes come in different packets', async () => {
    const text = 'Zoë 🌍 漢字 \u{1F468}\u200D\u{1F469}';
    const bytes = Buffer.from(event(chunk(text)) + 'data: [DONE]\n\n');
    upstream.reply = streams(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)));
    const events = await read(await gateway.account());
    expect(events.text).toBe(text);
  });

  it('keeps an event of one megabyte', async () => {
    const text = 'long '.repeat(210_000);
    upstream.reply = streams(event(chunk(text)), 'data: [DONE]\n\n');
    const events = await read(await gateway.account());
    expect(events.text).toBe(text);
  });

  it('reads comments, CRLF, several events in a packet and a lost last line end', async () => {
    const two = event(chunk('a')).replaceAll('\n', '\r\n') + event(chunk('b'));
    upstream.reply = streams(': hello\n\n', `event: message\n${two}`, 'data: [DONE]\n\n');
    const events = await read(await gateway.account());
    expect(events.text).toBe('ab');
    expect(events.data.at(-1)).toBe('[DONE]');
  });

  it('leaves out chunks without choices, which crash clients', async () => {
    const empty = chunk('', { choices: [], prompt_filter_results: [] });
    upstream.reply = streams(event(empty), event(chunk('x')), 'data: [DONE]\n\n');
    const events = await read(await gateway.account());
    expect(events.chunks.every(({ choices }) => choices.length === 1)).toBe(true);
  });

  it('takes usage from the chunk of the last word, and shows it only on request', async () => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
    const reply = streams(event(chunk('x', { usage })), 'data: [DONE]\n\n');
    for (const [fields, shown] of [
      [{}, undefined],
      [{ stream_options: { include_usage: true } }, usage],
    ] as const) {
      const account = await gateway.account(CREDIT);
      upstream.reply = reply;
      const events = await read(account, fields);
      expect(events.chunks.at(-1)?.usage).toEqual(shown);
      expect(await spent(account)).toBe(2_250n);
    }
  });

  it.each([
    ['reasoning and cached tokens follow the totals', 1_000, 100, 2_250n],
    ['more than was held is cut to the hold', 1e12, 1e12, undefined],
    ['a negative count is none at all', -5, 10, 19n],
    ['a fraction is none at all', 1.5, 10, 19n],
  ])('%s', async (_what, promptTokens, completionTokens, price) => {
    const account = await gateway.account(CREDIT);
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      prompt_tokens_details: { cached_tokens: 900 },
      completion_tokens_details: { reasoning_tokens: 90 },
    };
    const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }];
    upstream.reply = (response) => response.end(JSON.stringify({ ...chunk(''), choices, usage }));
    const answer = await postJson(url, account.headers, { ...ASK, max_tokens: 500 });
    expect(answer.status).toBe(200);
    const most = 5_000n + 100n;
    if (price === undefined) expect(await spent(account)).toBeLessThan(most);
    else expect(await spent(account)).toBe(price);
  });

  it('counts what was made after the last usage', async () => {
    const account = await gateway.account(CREDIT);
    const early = { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 };
    upstream.reply = streams(
      event(chunk('', { usage: early })),
      event(chunk('one two three')),
      'data: [DONE]\n\n',
    );
    await read(account);
    expect(await spent(account)).toBe((7n * 1_250_000n + 3n * 10_000_000n + 999_999n) / 1_000_000n);
  });
});
