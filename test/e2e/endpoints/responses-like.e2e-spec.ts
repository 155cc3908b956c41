import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';

const model = 'gen-responses-like';
const INPUT = 2;
const CACHED = 0.2;
const OUTPUT = 8;
/** More events than the sandbox sends for a short text. */
const MANY_EVENTS = 16;
const tools = [
  {
    type: 'function' as const,
    name: 'get_weather',
    strict: false,
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
];

let gateway: TestGateway;
let account: TestAccount;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: account.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

/** What the usage costs. */
function priceOf({ usage }: OpenAI.Responses.Response): number {
  const { input_tokens: input, input_tokens_details: parts, output_tokens: output } = usage!;
  const cached = parts.cached_tokens;
  return Math.ceil((input - cached) * INPUT + cached * CACHED + output * OUTPUT - 1e-6);
}

const costOf = ({ usage }: OpenAI.Responses.Response): number =>
  (usage as unknown as { readonly cost_microusd: number }).cost_microusd;

describe('a model that is asked over Responses', () => {
  it('answers callers of responses at the price of its usage, and caches prompts by itself', async () => {
    const first = await client.responses.create({ model, input: 'Say hello' });
    const again = await client.responses.create({ model, input: 'Say hello' });
    expect([first.output_text, again.output_text]).toEqual(['hello', 'hello']);
    expect(first.usage!.input_tokens_details.cached_tokens).toBe(0);
    expect(again.usage!.input_tokens_details.cached_tokens).toBeGreaterThan(0);
    expect([costOf(first), costOf(again)]).toEqual([priceOf(first), priceOf(again)]);
    expect(JSON.stringify(first)).not.toMatch(/responses-like_|"sandbox"/);
  });

  it('calls a tool and goes on with its result and its own encrypted reasoning', async () => {
    const asked = { model, tools, reasoning: { effort: 'low' as const } };
    const first = await client.responses.create({ ...asked, input: 'What is the weather?' });
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call']);
    const call = first.output.find(({ type }) => type === 'function_call')!;
    const { call_id } = call as OpenAI.Responses.ResponseFunctionToolCall;
    const next = await client.responses.create({
      ...asked,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id, output: 'sunny' }],
    });
    expect(next.output_text).toBe('The tool answered: sunny');
    expect(next.usage!.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
  });

  it('is streamed through the helper of the stock SDK, reasoning and refusal included', async () => {
    const final = await client.responses
      .stream({ model, input: 'Say one two', reasoning: { effort: 'low' } })
      .finalResponse();
    expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(final.output_text).toBe('one two');
    const refused = await client.responses
      .stream({ model, input: 'Say one [[sandbox:refuse]]' })
      .finalResponse();
    expect(refused.output[0]).toMatchObject({ content: [{ type: 'refusal' }] });
  });

  it('ends at the cap', async () => {
    const answer = await client.responses.create({
      model,
      input: 'Tell me about the moon',
      max_output_tokens: 16,
    });
    expect(answer).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect(answer.usage!.output_tokens).toBe(16);
  });

  it('answers callers of chat completions and of messages', async () => {
    const chat = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Say hello' }],
      reasoning_effort: 'low',
    });
    expect(chat.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'hello' } });
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...account.headers },
      body: JSON.stringify({
        model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Say hello' }],
      }),
    });
    expect(await answer.json()).toMatchObject({
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
    });
  });

  it('costs nothing where its stream breaks, at whichever event (G-24, G-103)', async () => {
    const before = await gateway.balance(account.accountId);
    let broken = 0;
    for (let events = 0; events < MANY_EVENTS; events += 1) {
      const input = `Say hello [[sandbox:break-event=${events}]]`;
      const final = client.responses.stream({ model, input }).finalResponse();
      const end = await final.catch(() => undefined);
      if (end !== undefined) break;
      broken += 1;
      expect(await gateway.balance(account.accountId)).toEqual(before);
    }
    expect(broken).toBeGreaterThan(5);
    expect(broken).toBeLessThan(MANY_EVENTS);
  });
});
