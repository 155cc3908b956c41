import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ASK,
  chunk,
  ChatUpstreamHarness,
  event,
  streams,
} from '../../support/chat-upstream-harness.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';

let harness: ChatUpstreamHarness;
beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost: 0.0012 };

async function figuresOf(executionId: string): Promise<unknown> {
  const url = `${harness.gateway.url}/admin/executions/${executionId}`;
  const { json } = await send(url, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  return (json as { provider_figures: unknown }).provider_figures;
}

describe('what a provider says that a call cost', () => {
  it('is on the record of a completion', async () => {
    const account = await harness.gateway.account();
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' } }];
    harness.upstream.reply = (response) => response.end(JSON.stringify({ choices, usage: USAGE }));
    const answer = await postJson(harness.url, account.headers, ASK);
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    expect(await figuresOf(id)).toEqual({ 'usage.cost': 0.0012 });
  });

  it('is on the record of a stream', async () => {
    const account = await harness.gateway.account();
    const end = { choices: [], usage: USAGE };
    const last = { index: 0, delta: {}, finish_reason: 'stop' };
    harness.upstream.reply = streams(
      event(chunk('Hi')),
      event(chunk('', { choices: [last] })),
      event(end),
      'data: [DONE]\n\n',
    );
    const answer = await postJson(harness.url, account.headers, { ...ASK, stream: true });
    expect(answer.status).toBe(200);
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    expect(await figuresOf(id)).toEqual({ 'usage.cost': 0.0012 });
  });
});
