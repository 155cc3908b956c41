import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { JsonObject } from '../../src/common/json-object.js';
import type { TestAccount } from '../support/gateway.js';
import { CHARGE, NativeModel, OF_VENDOR, seenIn, type SeenResponse } from './native-model.js';
import {
  ENCRYPTED,
  KNOWN_RESPONSE_EVENTS,
  RESPONSE,
  response,
  RESPONSE_EVENTS,
  responseBytes,
} from './openai-response-wires.js';

const INCLUDE = ['reasoning.encrypted_content'];

let model: NativeModel;
let account: TestAccount;
/** Called when the head of an answer has arrived. */
let onHead = (): void => undefined;

beforeAll(async () => {
  model = await NativeModel.start();
});
beforeEach(async () => {
  account = await model.gateway.account();
  model.upstream.seen.length = 0;
});
afterAll(() => model.stop());

const post = (body: object): Promise<Response> => model.post(account, body);

async function stream(body: object): Promise<SeenResponse> {
  const answer = await post({ stream: true, ...body });
  onHead();
  const text = await answer.text();
  expect(JSON.stringify([...answer.headers])).not.toMatch(OF_VENDOR);
  return seenIn(text);
}

describe('responses over a vendor of the same protocol', () => {
  it('pass its events and items, known or not, with the ids, names and seals of the gateway', async () => {
    model.streams(RESPONSE_EVENTS);
    const { events, text, last } = await stream({ include: INCLUDE });
    expect(text).not.toMatch(OF_VENDOR);
    expect(events.map(({ type }) => type)).toEqual(RESPONSE_EVENTS.map(({ type }) => type));
    expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_event, at) => at));
    const ids = last.output.map(({ id }) => id);
    expect(ids.map((id) => String(id).replace(/_[0-9a-f]{32}$/, ''))).toEqual([
      ...['rs', 'msg', 'item', 'fc', 'ctc'],
    ]);
    expect(events[19]).toMatchObject({
      type: 'response.novelty.progress',
      item_id: ids[2],
      part: { share: 0.5 },
    });
    for (const [index, item] of last.output.entries()) {
      const done = events.filter(({ type }) => type === 'response.output_item.done')[index];
      expect(done).toMatchObject({ output_index: index, item });
    }
    expect(last).toMatchObject({
      model: 'native',
      status: 'completed',
      usage: { cost_microusd: Number(CHARGE), input_tokens_details: { cached_tokens: 4_000 } },
    });
    expect(last.output[0]).toMatchObject({
      summary: [{ text: '**Looking up**' }, { text: 'I call a tool.' }],
      encrypted_content: expect.any(String),
    });
    expect(last.output[1]).toMatchObject({ phase: 'commentary' });
    expect((await model.gateway.balance(account.accountId)).held).toBe(0n);
  });

  it('go on from what is stored: the vendor gets back what it has encrypted, under its own id', async () => {
    model.streams(RESPONSE_EVENTS);
    const { last } = await stream({});
    expect(last.output[0]).toMatchObject({ encrypted_content: null });
    model.answers(RESPONSE);
    const outputs = [
      { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
    ];
    const next = await post({ previous_response_id: last.id, input: outputs });
    expect(next.status).toBe(200);
    const { input, ...body } = model.sentBody();
    expect(body).toEqual({
      model: 'm',
      max_output_tokens: 300,
      store: false,
      include: INCLUDE,
    });
    expect(input.map(({ type }) => type)).toEqual([
      ...['message', 'reasoning', 'message', 'novelty', 'function_call', 'custom_tool_call'],
      ...['function_call_output', 'custom_tool_call_output'],
    ]);
    expect(input[1]).toEqual({
      type: 'reasoning',
      id: 'rs_0f2a9c7d1b',
      summary: [
        { type: 'summary_text', text: '**Looking up**' },
        { type: 'summary_text', text: 'I call a tool.' },
      ],
      encrypted_content: ENCRYPTED,
    });
    expect(input[2]).toMatchObject({ role: 'assistant', phase: 'commentary' });
    expect(JSON.stringify(input)).not.toMatch(/"(msg|fc|ctc|item)_[0-9a-f]{32}"/);
  });

  it('go on from what the caller sends back, where nothing is stored', async () => {
    model.answers(RESPONSE);
    const answer = await post({ store: false, include: INCLUDE });
    const { output } = (await answer.json()) as SeenResponse['last'];
    expect(JSON.stringify(output)).not.toMatch(OF_VENDOR);
    const known = output.filter(({ type }) => type === 'reasoning' || type === 'message');
    const user = { role: 'user', content: 'And now?' };
    expect((await post({ store: false, input: [...known, user] })).status).toBe(200);
    expect(model.sentBody().input[0]).toMatchObject({
      id: 'rs_0f2a9c7d1b',
      encrypted_content: ENCRYPTED,
    });
    expect(model.sentBody().input[1]).toMatchObject({ role: 'assistant', phase: 'commentary' });
  });

  it('have the settings of the caller, and nothing that costs more or changes state at the vendor', async () => {
    model.answers(RESPONSE);
    const named = { type: 'custom', name: 'patch' };
    const tool = { ...named, format: { type: 'text' } };
    await post({
      instructions: 'Be brief.',
      reasoning: { effort: 'low', summary: 'auto', mode: 'pro' },
      text: { verbosity: 'low' },
      tools: [tool, { type: 'web_search' }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [tool] },
      service_tier: 'default',
      truncation: 'auto',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
    });
    const { input, ...body } = model.sentBody();
    expect(body).toEqual({
      model: 'm',
      instructions: 'Be brief.',
      reasoning: { effort: 'low', summary: 'auto' },
      text: { verbosity: 'low' },
      tools: [tool],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [named] },
      prompt_cache_key: 'k',
      max_output_tokens: 300,
      store: false,
      include: INCLUDE,
    });
    expect(input).toHaveLength(1);
  });

  it('are charged, however much of the request and of log probabilities their last events have', async () => {
    const logprobs = Array.from({ length: 400 }, () => ({
      token: 'a',
      logprob: -1,
      bytes: [97],
      top_logprobs: Array.from({ length: 20 }, () => ({ token: 'b', logprob: -2, bytes: [98] })),
    }));
    const end = RESPONSE_EVENTS.at(-1)!;
    const tools = [{ type: 'function', name: 'f', parameters: { enum: Array(9_950).fill(1) } }];
    const instructions = 'i'.repeat(2 * 1024 * 1024);
    model.streams([
      ...RESPONSE_EVENTS.slice(0, 15),
      { ...RESPONSE_EVENTS[15], logprobs },
      ...RESPONSE_EVENTS.slice(16, -1),
      { ...end, response: { ...RESPONSE, tools, instructions } },
    ]);
    expect((await stream({})).last).toMatchObject({ status: 'completed' });
    expect(await charged()).toBe(CHARGE);
  });

  it('that fail tell our own sentence, and cost nothing (G-24, G-103)', async () => {
    const error = { code: 'server_error', message: 'Failure in org-secret' };
    const failed = {
      type: 'response.failed',
      response: response({ status: 'failed', error }),
    };
    const head = new Promise<void>((resolve) => (onHead = resolve));
    model.upstream.reply = async (answer) => {
      answer.setHeader('content-type', 'text/event-stream');
      answer.write(responseBytes(RESPONSE_EVENTS.slice(0, 18)));
      // An error that came before the head would be a plain one.
      await head;
      answer.end(responseBytes([failed]));
    };
    const { events, text, last } = await stream({ include: INCLUDE });
    expect(text).not.toMatch(OF_VENDOR);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    expect(last).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(last.output).toHaveLength(2);
    expect(await model.gateway.balance(account.accountId)).toMatchObject({ held: 0n });
    expect(await charged()).toBe(0n);
  });

  it('whose items are numbered in another way are failures', async () => {
    const output = (RESPONSE.output as JsonObject[]).toSpliced(1, 1);
    const end = { type: 'response.completed', response: { ...RESPONSE, output } };
    const others = RESPONSE_EVENTS.filter(({ output_index: index }) => index !== 1);
    model.streams([...others.slice(0, -1), end]);
    const { text } = await stream({});
    expect(text).toContain('provider_http_error');
    expect(await charged()).toBe(0n);
  });

  it('are read by the helper of the stock SDK', async () => {
    model.streams(KNOWN_RESPONSE_EVENTS);
    const client = new OpenAI({
      baseURL: `${model.gateway.url}/v1`,
      apiKey: account.key,
      maxRetries: 0,
    });
    const final = await client.responses.stream({ model: 'native', input: 'Hi' }).finalResponse();
    expect(final.output_text).toBe('Hé 👋');
    expect(final.output.map(({ type }) => type)).toEqual([
      ...['reasoning', 'message', 'function_call', 'custom_tool_call'],
    ]);
  });
});

async function charged(): Promise<bigint> {
  const [row] = await model.gateway.dataSource.query<{ charged: string }[]>(
    'SELECT coalesce(sum(charged), 0) AS charged FROM execution WHERE account_id = $1',
    [account.accountId],
  );
  return BigInt(row!.charged);
}
