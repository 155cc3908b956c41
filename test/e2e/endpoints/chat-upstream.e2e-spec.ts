import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ASK,
  chunk,
  ChatUpstreamHarness,
  event,
  streams,
} from '../../support/chat-upstream-harness.js';
import { leaveAfter } from '../../support/event-stream.js';
import type { TestAccount } from '../../support/gateway.js';
import { errorOf, postJson } from '../../support/http-answer.js';

const CREDIT = 10_000_000n;

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

async function spent({ accountId }: TestAccount): Promise<bigint> {
  const { available, held } = await harness.gateway.balance(accountId);
  expect(held).toBe(0n);
  return CREDIT - available;
}

describe('whatever the provider sends', () => {
  it('shows our name of the model and nothing else of the vendor', async () => {
    const account = await harness.gateway.account();
    harness.upstream.reply = streams(
      event(chunk('Hi', { provider: 'vendor' })),
      'data: [DONE]\n\n',
    );
    const events = await harness.read(account);
    expect(events.data.join()).not.toMatch(/vendor|gpt/);
    expect(events.chunks[0]).toMatchObject({ model: 'gen-5', created: 1_700_000_000 });
    harness.upstream.reply = (response) =>
      response.end(
        JSON.stringify({
          ...chunk(''),
          object: 'chat.completion',
          choices: [{ message: { content: 'Hi' } }],
        }),
      );
    const whole = await postJson(harness.url, account.headers, ASK);
    expect(whole.bytes.toString()).not.toMatch(/vendor|gpt/);
    expect(whole.json).toMatchObject({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { completion_tokens: 1 },
    });
  });

  it('keeps characters whose bytes come in different packets', async () => {
    const text = 'Zoë 🌍 漢字 \u{1F468}\u200D\u{1F469}';
    const bytes = Buffer.from(event(chunk(text)) + 'data: [DONE]\n\n');
    harness.upstream.reply = streams(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)));
    const events = await harness.read(await harness.gateway.account());
    expect(events.text).toBe(text);
  });

  it('keeps an event of one megabyte', async () => {
    const text = 'long '.repeat(210_000);
    harness.upstream.reply = streams(event(chunk(text)), 'data: [DONE]\n\n');
    const events = await harness.read(await harness.gateway.account());
    expect(events.text).toBe(text);
  });

  it('reads comments, CRLF, several events in a packet and a lost last line end', async () => {
    const two = event(chunk('a')).replaceAll('\n', '\r\n') + event(chunk('b'));
    harness.upstream.reply = streams(': hello\n\n', `event: message\n${two}`, 'data: [DONE]\n\n');
    const events = await harness.read(await harness.gateway.account());
    expect(events.text).toBe('ab');
    expect(events.data.at(-1)).toBe('[DONE]');
  });

  it('leaves out chunks without choices, which crash clients', async () => {
    const empty = chunk('', { choices: [], prompt_filter_results: [] });
    harness.upstream.reply = streams(event(empty), event(chunk('x')), 'data: [DONE]\n\n');
    const events = await harness.read(await harness.gateway.account());
    expect(events.chunks.every(({ choices }) => choices.length === 1)).toBe(true);
  });

  it('treats a stream without any choice as a failure, like a JSON response without one (CHAT-24, CHAT-25)', async () => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
    const none = { choices: [], usage };
    const replies = [
      streams(event(chunk('', none)), 'data: [DONE]\n\n'),
      (response: ServerResponse) => response.end(JSON.stringify(chunk('', none))),
    ];
    for (const [index, reply] of replies.entries()) {
      const account = await harness.gateway.account(CREDIT);
      harness.upstream.reply = reply;
      const answer = await postJson(harness.url, account.headers, { ...ASK, stream: index === 0 });
      expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_http_error']);
      expect(await spent(account)).toBe(0n);
    }
  });

  it('treats a response with more than 1,024 calls of tools as a failure, which is free', async () => {
    const tool_calls = Array.from({ length: 1_025 }, (_, index) => ({
      index,
      id: `call_${index}`,
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    }));
    const deltas = [tool_calls.slice(0, 600), tool_calls.slice(600)].map((calls) =>
      event(chunk('', { choices: [{ index: 0, delta: { tool_calls: calls } }] })),
    );
    const account = await harness.gateway.account(CREDIT);
    harness.upstream.reply = streams(...deltas, 'data: [DONE]\n\n');
    const { data } = await harness.read(account);
    expect(JSON.parse(data.at(-1)!)).toMatchObject({ error: { code: 'provider_http_error' } });
    const choices = [{ index: 0, message: { tool_calls }, finish_reason: 'tool_calls' }];
    harness.upstream.reply = (response) => response.end(JSON.stringify({ choices }));
    const whole = await postJson(harness.url, account.headers, ASK);
    expect([whole.status, errorOf(whole).code]).toEqual([502, 'provider_http_error']);
    expect(await spent(account)).toBe(0n);
  });

  it('reads usage from the last chunk with text, and shows it only on request', async () => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
    const reply = streams(event(chunk('x', { usage })), 'data: [DONE]\n\n');
    for (const [fields, shown] of [
      [{}, undefined],
      [
        { stream_options: { include_usage: true } },
        { ...usage, cost: 0.00225, cost_microusd: 2_250 },
      ],
    ] as const) {
      const account = await harness.gateway.account(CREDIT);
      harness.upstream.reply = reply;
      const events = await harness.read(account, fields);
      expect(events.chunks.at(-1)?.usage).toEqual(shown);
      expect(await spent(account)).toBe(2_250n);
    }
  });

  it.each([
    ['reasoning follows the totals, and cached tokens cost a tenth', 1_000, 100, 1_238n],
    ['more than was held is cut to the hold', 1e9, 1e9, undefined],
    ['a count that no answer could have is none at all', 1e12, 1e12, 19n],
    ['a negative count is none at all', -5, 10, 19n],
    ['a fraction is none at all', 1.5, 10, 19n],
  ])('%s', async (_what, promptTokens, completionTokens, price) => {
    const account = await harness.gateway.account(CREDIT);
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      prompt_tokens_details: { cached_tokens: 900 },
      completion_tokens_details: { reasoning_tokens: 90 },
    };
    const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }];
    harness.upstream.reply = (response) =>
      response.end(JSON.stringify({ ...chunk(''), choices, usage }));
    const answer = await postJson(harness.url, account.headers, { ...ASK, max_tokens: 500 });
    expect(answer.status).toBe(200);
    const most = 5_000n + 100n;
    if (price === undefined) expect(await spent(account)).toBeLessThan(most);
    else expect(await spent(account)).toBe(price);
  });

  it('pays the usage that comes after the reason to end, though the client has left in between (CHAT-26, G-24)', async () => {
    const account = await harness.gateway.account(CREDIT);
    const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
    const stop = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    let left: Promise<unknown> = Promise.resolve();
    harness.upstream.reply = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event(chunk('x')) + event(chunk('', stop)));
      await left;
      // The gateway hears of it a moment later; a provider that it gave up would be cut off by now.
      await sleep(300);
      response.end(event(chunk('', { choices: [], usage })) + 'data: [DONE]\n\n');
    };
    left = leaveAfter(
      harness.url,
      account.headers,
      { ...ASK, model: 'gen-4-mini', stream: true },
      1,
    );
    await left;
    while ((await harness.gateway.balance(account.accountId)).held > 0n) await sleep(20);
    expect(await spent(account)).toBe(560n);
  });

  it('counts what was made after the last usage', async () => {
    const account = await harness.gateway.account(CREDIT);
    const early = { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 };
    harness.upstream.reply = streams(
      event(chunk('', { usage: early })),
      event(chunk('one two three')),
      'data: [DONE]\n\n',
    );
    await harness.read(account);
    expect(await spent(account)).toBe((7n * 1_250_000n + 3n * 10_000_000n + 999_999n) / 1_000_000n);
  });
});
