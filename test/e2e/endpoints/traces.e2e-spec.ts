import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chunk, event, streams } from '../../support/chat-upstream-harness.js';
import { postJson } from '../../support/http-answer.js';
import type { CollectedSpan } from '../../support/otlp-collector.js';
import { askAt, refuses, TraceHarness, traceOf, UNTOLD } from '../../support/trace-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';
import { until } from '../../support/until.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${CALLER}-01`;

let harness: TraceHarness;
let desk: Awaited<ReturnType<TraceHarness['open']>>;

beforeAll(async () => {
  harness = await TraceHarness.start();
  desk = await harness.open();
});
beforeEach(() => {
  harness.recover();
});
afterAll(async () => {
  await desk.gateway.expectCleanBooks();
  await desk.gateway.stop();
  await harness.stop();
});

const ask = (fields: object = {}, headers: Record<string, string> = {}) =>
  askAt(desk, fields, headers);
const spansOf = (traceId: string, count: number) => harness.spansOf(traceId, count);
const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.filter((span) => span.name === name);
  if (found.length !== 1)
    throw new Error(`${found.length} spans ${name}: ${JSON.stringify(spans)}`);
  return found[0]!;
};
const ROOT = 'POST /v1/chat/completions';

describe('the trace of a call', () => {
  it('has request, hold, attempt and settlement, with tokens and no text', async () => {
    const answer = await ask();
    expect(answer.status).toBe(200);
    const trace = traceOf(answer);
    const spans = await spansOf(trace, 4);
    expect(spans.map(({ name }) => name).sort()).toEqual([
      ROOT,
      'chat first',
      'hold',
      'settlement',
    ]);
    const root = named(spans, ROOT);
    expect(root).toMatchObject({ parentSpanId: '', kind: 2, status: 0 });
    expect(root.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'shim.execution.id': `exec_${trace}`,
      'shim.account.id': expect.stringMatching(/^acct_/),
      'shim.model': 'gen-5-mini',
    });
    for (const name of ['hold', 'chat first', 'settlement']) {
      expect(named(spans, name).parentSpanId).toBe(root.spanId);
    }
    const attempt = named(spans, 'chat first');
    expect(attempt.kind).toBe(3);
    expect(attempt.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'first',
      'gen_ai.response.id': 'up-1',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 5,
    });
    const held = Number(named(spans, 'hold').attributes['shim.held_microusd']);
    const charged = Number(named(spans, 'settlement').attributes['shim.charged_microusd']);
    expect(charged).toBe(Number(answer.headers.get('x-gateway-charge-microusd')));
    expect(held).toBeGreaterThan(charged);
  });

  it('has one attempt for each route, the failed one with its status', async () => {
    harness.upstream.reply = refuses;
    const spans = await spansOf(traceOf(await ask()), 5);
    const root = named(spans, ROOT);
    const [first, second] = [named(spans, 'chat first'), named(spans, 'chat second')];
    expect([first.parentSpanId, second.parentSpanId]).toEqual([root.spanId, root.spanId]);
    expect(first).toMatchObject({
      status: 2,
      attributes: { 'error.type': 'rate_limited', 'http.response.status_code': 429 },
    });
    expect(second).toMatchObject({ status: 0, attributes: { 'gen_ai.provider.name': 'backup' } });
  });

  it('has a release where all routes failed, and an error of the request', async () => {
    harness.upstream.reply = refuses;
    harness.backup.reply = (response) => response.writeHead(500).end();
    const answer = await ask();
    expect(answer.status).toBe(502);
    const spans = await spansOf(traceOf(answer), 5);
    expect(named(spans, 'release').parentSpanId).toBe(named(spans, ROOT).spanId);
    expect(named(spans, ROOT)).toMatchObject({
      status: 2,
      attributes: { 'error.type': 'provider_http_error' },
    });
  });

  it('of a stream has an attempt that lasts until its end, with tokens', async () => {
    const usage = {
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    };
    harness.upstream.reply = streams(
      event(chunk(UNTOLD.answer)),
      event(chunk('', usage)),
      'data: [DONE]\n\n',
    );
    const spans = await spansOf(traceOf(await ask({ stream: true })), 4);
    expect(named(spans, 'chat first').attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 2,
    });
    expect(named(spans, 'settlement').parentSpanId).toBe(named(spans, ROOT).spanId);
  });

  it('is the trace of its caller, and goes on at the provider as that of the attempt', async () => {
    await ask({}, { traceparent: SAMPLED });
    const spans = await spansOf(TRACE, 4);
    expect(named(spans, ROOT).parentSpanId).toBe(CALLER);
    const { spanId } = named(spans, 'chat first');
    expect(harness.upstream.only.headers.traceparent).toBe(`00-${TRACE}-${spanId}-01`);
  });

  it('that its caller does not sample is not sent, and its traceparent goes on as it came', async () => {
    const unsampled = `00-${'a'.repeat(32)}-${CALLER}-00`;
    await ask({}, { traceparent: unsampled });
    expect(harness.upstream.only.headers.traceparent).toBe(unsampled);
    await spansOf(traceOf(await ask()), 4);
    expect(harness.of('a'.repeat(32))).toEqual([]);
  });

  it('of a caller whose key is not known is not sent, whatever its traceparent says', async () => {
    const traceparent = `00-${'b'.repeat(32)}-${CALLER}-01`;
    const answer = await ask({}, { traceparent, authorization: 'Bearer sk-of-nobody' });
    expect(answer.status).toBe(401);
    await spansOf(traceOf(await ask()), 4);
    expect(harness.of('b'.repeat(32))).toEqual([]);
  });

  it('says why a request was refused', async () => {
    const answer = await ask({ temperature: 'hot' });
    expect(answer.status).toBe(400);
    const [root] = await spansOf(traceOf(answer), 1);
    expect(root).toMatchObject({ status: 0, attributes: { 'shim.error.code': 'invalid_request' } });
  });
});

describe('the trace of a task', () => {
  it('has the id of the task, its steps with their attempts, and its webhook', async () => {
    const webhook = { webhook: harness.receiver.url, webhook_secret: UNTOLD.webhookSecret };
    const body = { model: 'song-music', prompt: `${AT_ONCE}${UNTOLD.prompt}`, ...webhook };
    const url = `${desk.gateway.url}/v1/music/generations`;
    const answer = await postJson(url, { ...desk.account.headers, 'idempotency-key': 'a' }, body);
    expect(answer.status).toBe(202);
    const id = (answer.json as { id: string }).id.replace('task_', '');
    const [delivery] = await harness.receiver.until(1);
    const isWhole = (): boolean => harness.of(id).some(({ name }) => name === 'webhook attempt');
    await until(isWhole);
    const request = await spansOf(traceOf(answer), 2);
    expect(named(request, 'hold').parentSpanId).toBe(
      named(request, 'POST /v1/music/generations').spanId,
    );
    const spans = harness.of(id);
    const root = named(spans, 'task');
    expect(root).toMatchObject({ parentSpanId: '', links: [traceOf(answer)] });
    const submit = named(spans, 'task submit');
    const sent = named(spans, 'webhook attempt');
    const polls = spans.filter(({ name }) => name === 'task poll');
    for (const step of [submit, sent, ...polls]) expect(step.parentSpanId).toBe(root.spanId);
    expect(polls.length).toBeGreaterThan(0);
    const above = spans.filter(({ kind, name }) => kind === 3 && name.startsWith('song '));
    expect(above.map(({ parentSpanId }) => parentSpanId)).toContain(submit.spanId);
    expect(above[0]?.attributes).toMatchObject({ 'gen_ai.operation.name': 'song' });
    expect(sent.attributes).toMatchObject({
      'shim.task.id': `task_${id}`,
      'http.response.status_code': 200,
    });
    expect(delivery?.headers.traceparent).toBe(`00-${id}-${sent.spanId}-01`);
  });
});

describe('what is exported', () => {
  it('has no prompt, answer, key, secret, query or word of a provider', () => {
    const all = harness.collector.raw.join('\n');
    expect(all).toContain('gen_ai.provider.name');
    expect(all).toContain('"service.name"');
    const key = desk.account.headers.authorization.replace('Bearer ', '');
    for (const secret of [...Object.values(UNTOLD), key]) expect(all).not.toContain(secret);
  });

  it('goes to /v1/traces with the headers of the setting', () => {
    expect(harness.collector.raw[0]).toMatch(/^\/v1\/traces /);
    expect(harness.collector.headers[0]).toMatchObject({ 'x-team': 'a b' });
  });
});
