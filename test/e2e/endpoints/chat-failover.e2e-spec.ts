import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import {
  ASK,
  chunk,
  ChatUpstreamHarness,
  event,
  streams,
} from '../../support/chat-upstream-harness.js';
import { postJson } from '../../support/http-answer.js';

/** Far more than all sockets and buffers on the way hold. */
const BLOCKS = 1_000;

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

describe('failover', () => {
  const answer = (content: string) => (response: ServerResponse) =>
    response.end(JSON.stringify({ ...chunk(''), choices: [{ message: { content } }] }));
  const limited = (response: ServerResponse) => response.writeHead(429).end();

  it('tries the next route before the first byte, with its own model and key', async () => {
    const account = await harness.gateway.account();
    harness.upstream.reply = limited;
    harness.backup.reply = answer('from the backup');
    const whole = await postJson(harness.url, account.headers, { ...ASK, model: 'gen-5-mini' });
    expect(whole.json).toMatchObject({
      model: 'gen-5-mini',
      choices: [{ message: { content: 'from the backup' } }],
    });
    const seen = harness.backup.seen.at(-1)!;
    expect(seen.headers.authorization).toBe('Bearer backup-key');
    expect(JSON.parse(seen.body.toString())).toMatchObject({ model: 'second' });
    harness.backup.reply = streams(event(chunk('streamed')), 'data: [DONE]\n\n');
    expect((await harness.read(account, { model: 'gen-5-mini' })).text).toBe('streamed');
  });

  it('tries no other provider once the response has begun', async () => {
    const before = harness.backup.seen.length;
    harness.upstream.reply = async (response) => {
      response.write(event(chunk('half of')));
      await sleep(20);
      response.destroy();
    };
    const events = await harness.read(await harness.gateway.account(), { model: 'gen-5-mini' });
    expect(events.data.at(-1)).toContain('provider_http_error');
    expect(harness.backup.seen).toHaveLength(before);
  });
});

describe('a slow reader', () => {
  it('makes the provider wait instead of filling memory', async () => {
    const { headers } = await harness.gateway.account();
    let written = 0;
    const block = event(chunk('x'.repeat(64_000)));
    harness.upstream.reply = async (response) => {
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
    const answer = await fetch(harness.url, {
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
