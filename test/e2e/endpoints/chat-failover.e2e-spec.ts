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
/** Far more than all sockets and buffers on the way hold. */
const BLOCKS = 1_000;
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

describe('failover', () => {
  const answer = (content: string) => (response: ServerResponse) =>
    response.end(JSON.stringify({ ...chunk(''), choices: [{ message: { content } }] }));
  const limited = (response: ServerResponse) => response.writeHead(429).end();

  it('asks the next route before the first byte, with its own model and key', async () => {
    const account = await gateway.account();
    upstream.reply = limited;
    backup.reply = answer('from the backup');
    const whole = await postJson(url, account.headers, { ...ASK, model: 'gen-5-mini' });
    expect(whole.json).toMatchObject({
      model: 'gen-5-mini',
      choices: [{ message: { content: 'from the backup' } }],
    });
    const seen = backup.seen.at(-1)!;
    expect(seen.headers.authorization).toBe('Bearer backup-key');
    expect(JSON.parse(seen.body.toString())).toMatchObject({ model: 'second' });
    backup.reply = streams(event(chunk('streamed')), 'data: [DONE]\n\n');
    expect((await read(account, { model: 'gen-5-mini' })).text).toBe('streamed');
  });

  it('asks nobody else once the answer has begun', async () => {
    const before = backup.seen.length;
    upstream.reply = async (response) => {
      response.write(event(chunk('half of')));
      await sleep(20);
      response.destroy();
    };
    const events = await read(await gateway.account(), { model: 'gen-5-mini' });
    expect(events.data.at(-1)).toContain('provider_http_error');
    expect(backup.seen).toHaveLength(before);
  });
});

describe('a slow reader', () => {
  it('makes the provider wait instead of filling memory', async () => {
    const { headers } = await gateway.account();
    let written = 0;
    const block = event(chunk('x'.repeat(64_000)));
    upstream.reply = async (response) => {
      response.on('error', () => undefined);
      while (!response.destroyed && written < BLOCKS) {
        written += 1;
        if (!response.write(block)) {
          await Promise.race([
            new Promise((resolve) => response.once('drain', resolve)),
            new Promise((resolve) => response.once('close', resolve)),
          ]);
        }
      }
      response.end('data: [DONE]\n\n');
    };
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...ASK, stream: true }),
    });
    let before = -1;
    while (before !== written) {
      before = written;
      await sleep(150);
    }
    expect(written).toBeLessThan(BLOCKS);
    let bytes = 0;
    for await (const part of answer.body as AsyncIterable<Uint8Array>) bytes += part.length;
    expect(written).toBe(BLOCKS);
    expect(bytes).toBeGreaterThan(BLOCKS * 64_000);
  });
});
