import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createParser } from 'eventsource-parser';
import { type TestAccount } from '../support/gateway.js';
import { type GatewayFromOutside, sharedGateway } from '../support/shared-gateway.js';

const SCRIPT = new URL('curl.sh', import.meta.url).pathname;
const SONGS = new URL('curl-songs.sh', import.meta.url).pathname;
const PATIENCE_MS = 180_000;

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

describe('clients without an SDK', () => {
  it('curl gets through every kind of answer', async () => {
    const env = { ...process.env, BASE_URL: gateway.url, API_KEY: account.key };
    const { stdout } = await promisify(execFile)('sh', [SCRIPT], { env });
    expect(stdout.trim().split('\n')).toHaveLength(9);
    expect(stdout).not.toContain('FAIL');
  });

  it(
    'curl makes a song, takes it apart and downloads a stem; each call costs its price',
    async () => {
      const before = await gateway.balance(account.accountId);
      const env = {
        ...process.env,
        BASE_URL: gateway.url,
        API_KEY: account.key,
        WORDS: '[[sandbox:task-ms=0]]',
      };
      const { stdout } = await promisify(execFile)('sh', [SONGS], { env });
      const lines = stdout.trim().split('\n');
      expect(lines.slice(0, 3)).toEqual([
        'ok   song-music 75000',
        'ok   song-stems-all 360000',
        'ok   song-download 2400',
      ]);
      expect(lines[3]).toMatch(/^ok {3}file 200 audio\/mpeg [1-9]\d+$/);
      const after = await gateway.balance(account.accountId);
      expect(before.available - after.available).toBe(437_400n);
    },
    PATIENCE_MS,
  );

  it('a client of raw server-sent events assembles the response', async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...account.headers,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({
        model: 'gen-5-mini',
        stream: true,
        messages: [{ role: 'user', content: 'Say Zoë saw 🌍' }],
      }),
    });
    let text = '';
    let isDone = false;
    const parser = createParser({
      onEvent: ({ data }) => {
        isDone = data === '[DONE]';
        if (isDone) return;
        const { choices } = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
        text += choices[0]?.delta.content ?? '';
      },
    });
    const decoder = new TextDecoder();
    for await (const bytes of answer.body as AsyncIterable<Uint8Array>) {
      parser.feed(decoder.decode(bytes, { stream: true }));
    }
    expect(text).toBe('Zoë saw 🌍');
    expect(isDone).toBe(true);
  });
});
