import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatStreamHarness, magic } from '../../support/chat-stream-harness.js';
import { leaveAfter } from '../../support/event-stream.js';
import { errorOf, postJson } from '../../support/http-answer.js';
import { expectRefused } from '../../support/refusal.js';

const CREDIT = 10_000_000n;
const MODEL = { id: 'gen-5', input: 1_250_000n, output: 10_000_000n };

let harness: ChatStreamHarness;

beforeAll(async () => {
  harness = await ChatStreamHarness.start(MODEL);
});
afterAll(() => harness.stop());

describe('POST /v1/chat/completions with stream', () => {
  it('is nothing but data lines, the last of them [DONE] (CHAT-13)', async () => {
    const events = await harness.stream(harness.ask());
    expect(events.status).toBe(200);
    expect(events.headers.get('content-type')).toBe('text/event-stream');
    expect(events.headers.get('x-accel-buffering')).toBe('no');
    expect(events.lines.every((line) => line.startsWith('data: '))).toBe(true);
    expect(events.lines.at(-1)).toBe('data: [DONE]');
    expect(events.lines.filter((line) => line === 'data: [DONE]')).toHaveLength(1);
  });

  it('sends chunks of one id, with a reason at their end only (CHAT-15, G-93)', async () => {
    const { chunks } = await harness.stream(harness.ask());
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({
        object: 'chat.completion.chunk',
        created: expect.any(Number),
        model: 'gen-5',
        choices: [{ index: 0, delta: expect.any(Object) }],
      });
      expect(chunk).not.toHaveProperty('usage');
    }
    const reasons = chunks.map(({ choices }) => choices[0]!.finish_reason);
    expect(reasons.slice(0, -1).every((reason) => reason === null)).toBe(true);
    expect(reasons.at(-1)).toBe('stop');
  });

  it('adds up to the same answer as without stream (CHAT-16)', async () => {
    const { text, chunks } = await harness.stream(harness.ask());
    const whole = await postJson(harness.url, harness.shared.headers, harness.ask());
    expect(whole.json).toMatchObject({ choices: [{ message: { content: text } }] });
    expect(chunks[0]!.choices[0]!.delta.role).toBe('assistant');
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
  });

  it('forwards chunks while the provider still makes more (CHAT-17)', async () => {
    const words = magic('tokens=3', 'hang-after=2');
    const left = await leaveAfter(
      harness.url,
      harness.shared.headers,
      {
        ...harness.ask(words),
        model: 'gen-4-mini',
        stream: true,
      },
      2,
    );
    expect(left).toBe(2);
  });

  it('shows usage only on request, in a last chunk without choices (G-93)', async () => {
    const { chunks } = await harness.stream(
      harness.ask('', { stream_options: { include_usage: true } }),
    );
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { total_tokens: expect.any(Number) },
    });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  it('calls a tool in pieces that add up to JSON', async () => {
    const tools = [{ type: 'function', function: { name: 'moon_phase', parameters: {} } }];
    const { chunks } = await harness.stream(harness.ask('', { tools, tool_choice: 'required' }));
    const calls = chunks.flatMap(({ choices }) => {
      const { delta } = choices[0]! as { delta: { tool_calls?: { function: object }[] } };
      return delta.tool_calls ?? [];
    });
    const pieces = calls.map((call) => (call.function as { arguments: string }).arguments);
    expect(JSON.parse(pieces.join(''))).toEqual({});
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('tool_calls');
  });
});

describe('the charge', () => {
  it('is 402 where the balance cannot cover the most it may cost (CHAT-23, G-23)', async () => {
    for (const credit of [0n, 1_000n]) {
      const { accountId, headers } = await harness.gateway.account(credit);
      for (const fields of [{}, { stream: true }]) {
        await expectRefused(
          harness.gateway,
          accountId,
          () => postJson(harness.url, headers, { ...harness.ask(), ...fields }),
          { status: 402, code: 'insufficient_user_quota' },
        );
      }
    }
  });

  it.each(['BILL-14', 'ERR-07'])('has the general code when it is refused (%s)', async (_row) => {
    const { headers } = await harness.gateway.account(0n);
    const answer = await postJson(harness.url, headers, harness.ask());
    expect(answer.status).toBe(402);
    expect(errorOf(answer)).toMatchObject({
      code: 'insufficient_user_quota',
      type: 'insufficient_quota',
    });
  });

  it('fits a small balance where max_tokens is small', async () => {
    const { headers } = await harness.gateway.account(300n);
    const answer = await postJson(harness.url, headers, { ...harness.ask(), max_tokens: 5 });
    expect(answer.status).toBe(200);
  });

  it.each([false, true])(
    'is the usage, rounded up once; stream %s (CHAT-24, G-23)',
    async (isStream) => {
      for (const tokens of [1, 7, 33]) {
        const account = await harness.gateway.account(CREDIT);
        const body = harness.ask(magic(`tokens=${tokens}`), { stream: isStream });
        const answer = await postJson(harness.url, account.headers, body);
        const { promptTokens } = await harness.lastChat();
        const price = harness.priceOf(promptTokens, tokens);
        expect(await harness.paid(account)).toBe(price);
        if (!isStream) expect(answer.headers.get('x-gateway-charge-microusd')).toBe(`${price}`);
        expect(await harness.executionOf(answer.headers, account)).toMatchObject({
          status: 'succeeded',
          model: 'gen-5',
          endpoint: '/v1/chat/completions',
          charged_microusd: `${price}`,
          unit: 'token',
          quantity: {
            prompt_tokens: promptTokens,
            cached_tokens: 0,
            completion_tokens: tokens,
            reasoning_tokens: 0,
          },
          unit_price_microusd: { input_per_million: '1250000', output_per_million: '10000000' },
          estimated: false,
          provider_request_id: expect.any(String),
        });
      }
    },
  );

  it.each([false, true])('counts locally where none is reported; stream %s', async (isStream) => {
    const account = await harness.gateway.account(CREDIT);
    const words = magic('tokens=30', 'no-usage');
    const body = harness.ask(words, { stream: isStream, stream_options: { include_usage: true } });
    const answer = await postJson(harness.url, account.headers, body);
    // `Tell me about the moon` is five words, each a token; a message and a reply cost three each.
    expect(await harness.paid(account)).toBe(harness.priceOf(5 + 3 + 3, 30));
    expect(answer.bytes.toString()).toContain('"prompt_tokens":11,"completion_tokens":30');
  });

  it.each([false, true])('counts where zeros are reported; stream %s', async (isStream) => {
    const account = await harness.gateway.account(CREDIT);
    const body = harness.ask(magic('tokens=30', 'zero-usage'), { stream: isStream });
    const answer = await postJson(harness.url, account.headers, body);
    expect(answer.status).toBe(200);
    expect(await harness.paid(account)).toBe(harness.priceOf(5 + 3 + 3, 30));
  });
});
