import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import {
  ASK,
  chunk,
  ChatUpstreamHarness,
  event,
  streams,
} from '../support/chat-upstream-harness.js';
import { type Answer, errorOf, postJson } from '../support/http-answer.js';

const CREDIT = 10_000_000n;
const SECRET = 'Acme Vendor at https://api.vendor.example says: no, dear org-a1b2c3d4e5';
const VENDOR_WORDS = /vendor|acme|org-|says/i;
const SAID = { role: 'assistant', content: 'Half an answer' };
/** More than the failures that close a route. */
const MANY = 12;

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
const works = json({ ...chunk(''), choices: [{ message: { content: 'Hi' } }] });

/** A call of an account of its own, so that no breaker of one account is full. Nothing may be charged. */
async function free(fields: object): Promise<Answer> {
  const { headers, accountId } = await harness.gateway.account(CREDIT);
  const answer = await postJson(harness.url, headers, { ...ASK, ...fields });
  expect(await harness.gateway.balance(accountId)).toMatchObject({ available: CREDIT, held: 0n });
  expect(answer.bytes.toString()).not.toMatch(VENDOR_WORDS);
  return answer;
}

// Ten failures in a row, or more failures than successes, would take the route out of use.
afterEach(async () => {
  harness.upstream.reply = works;
  const { headers } = await harness.gateway.account();
  for (let call = 0; call < 3; call++) {
    expect((await postJson(harness.url, headers, ASK)).status).toBe(200);
  }
});

const message = SECRET;
const CASES: readonly [string, unknown, number, string, string | null][] = [
  ['a rate limit', { error: { message, code: 429 } }, 429, 'provider_rate_limited', '5'],
  [
    'an overload',
    { type: 'error', error: { type: 'overloaded_error', message } },
    503,
    'provider_unavailable',
    '5',
  ],
  [
    'a model that is loaded',
    { error: 'The model is currently loading', estimated_time: 20.1 },
    503,
    'provider_unavailable',
    '21',
  ],
  [
    'no credit of ours',
    { error: { message, type: 'insufficient_quota' } },
    503,
    'provider_unavailable',
    null,
  ],
  [
    'a refusal',
    { error: { message, code: 'content-policy-violation' } },
    400,
    'provider_rejected_request',
    null,
  ],
  [
    'a status of its own',
    { choices: null, base_resp: { status_code: 1026, status_msg: SECRET } },
    400,
    'provider_rejected_request',
    null,
  ],
  ['a failure', { error: { message, code: 500 } }, 502, 'provider_http_error', null],
  ['a text', { error: SECRET }, 502, 'provider_http_error', null],
];

describe('an error inside a 200', () => {
  it.each(CASES)(
    'that tells of %s is answered as a status would be, in JSON and as the first event of a stream',
    async (_what, body, status, code, retryAfter) => {
      for (const isStream of [false, true]) {
        harness.upstream.reply = isStream ? streams(event(body)) : json(body);
        const answer = await free({ stream: isStream });
        expect([answer.status, errorOf(answer).code]).toEqual([status, code]);
        if (retryAfter !== null) expect(answer.headers.get('retry-after')).toBe(retryAfter);
      }
    },
  );

  it('in a choice is not sold, whatever stands beside it', async () => {
    const error = { code: 429, message: SECRET };
    for (const choice of [
      { message: SAID, error },
      { message: SAID, finish_reason: 'error', error },
    ]) {
      harness.upstream.reply = json({ ...chunk(''), choices: [{ index: 0, ...choice }] });
      const answer = await free({});
      expect([answer.status, errorOf(answer).code]).toEqual([429, 'provider_rate_limited']);
    }
    harness.upstream.reply = json({
      ...chunk(''),
      choices: [{ message: SAID, finish_reason: 'error' }],
    });
    expect((await free({})).status).toBe(502);
  });

  it('after the first chunk of a stream ends it with an error event that names its code', async () => {
    const account = await harness.gateway.account(CREDIT);
    const failed = { index: 0, delta: { content: '' }, finish_reason: 'error' };
    const error = { code: 529, message: SECRET };
    harness.upstream.reply = streams(
      event(chunk('Half')),
      event(chunk('', { choices: [{ ...failed, error }], error })),
      'data: [DONE]\n\n',
    );
    const { data } = await harness.read(account);
    expect(data.at(-1)).toContain('"provider_unavailable"');
    expect(data.join()).not.toMatch(VENDOR_WORDS);
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({
      available: CREDIT,
      held: 0n,
    });
  });

  it('tries the next route if nothing was done', async () => {
    harness.backup.reply = works;
    for (const isStream of [false, true]) {
      const body = { error: { message, code: 529 } };
      harness.upstream.reply = isStream ? streams(event(body)) : json(body);
      if (isStream) harness.backup.reply = streams(event(chunk('Hi')), 'data: [DONE]\n\n');
      const { headers } = await harness.gateway.account();
      const fields = { model: 'gen-5-mini', stream: isStream };
      expect((await postJson(harness.url, headers, { ...ASK, ...fields })).status).toBe(200);
    }
  });

  it('that refuses contents never closes the route, however many accounts provoke it', async () => {
    for (let call = 0; call < MANY; call++) {
      harness.upstream.reply = json({ error: { code: 'content_filter', message } });
      expect((await free({})).status).toBe(400);
      harness.upstream.reply = streams(
        event({ error: { code: 403, metadata: { reasons: ['x'] } } }),
      );
      expect((await free({ stream: true })).status).toBe(400);
    }
  });
});

describe('an error status', () => {
  const word = (what: string) => `The provider refused the request: ${what}.`;
  it.each([
    [400, { code: 'invalid-argument', error: SECRET }, word('invalid_argument')],
    [
      400,
      [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
      word('invalid_argument'),
    ],
    [422, { detail: [{ loc: ['body', 'x'], msg: SECRET, type: 'too-big' }] }, word('too_big')],
    [400, { error: 'unsupported-value' }, word('unsupported_value')],
    [400, { detail: { status: 'bad_prompt', message } }, word('bad_prompt')],
    [400, { error: { code: 'InputTextSensitive', message } }, word('input_text_sensitive')],
    [400, { error: SECRET }, 'The provider refused the request.'],
    [400, SECRET, 'The provider refused the request.'],
  ])('%d with %j tells its code word', async (status, body, text) => {
    harness.upstream.reply = json(body, status);
    const answer = await free({});
    expect([answer.status, errorOf(answer).message]).toEqual([400, text]);
  });

  it.each([
    [401, { error: { message } }],
    [402, { error: { message } }],
    [403, '<html>'],
    [400, [{ error: { code: 400, message: 'API key not valid. Please pass one.' } }]],
    [400, { type: 'error', error: { message: 'Your credit balance is too low to go on.' } }],
    [429, { error: { type: 'insufficient_quota', message } }],
    [401, { detail: { status: 'detected_unusual_activity', message } }],
  ])('%d with %j is about our account, and the caller gets 503', async (status, body) => {
    harness.upstream.reply = json(body, status);
    const answer = await free({});
    expect([answer.status, errorOf(answer).code]).toEqual([503, 'provider_unavailable']);
  });

  it.each([
    [529, { error: { message } }, {}, '5'],
    [503, '<html>', {}, '5'],
    [429, { detail: { status: 'system_busy' } }, { 'retry-after-ms': '1500' }, '2'],
    [500, { error: { code: 'server_is_overloaded' } }, { 'retry-after': '86400' }, '60'],
  ])('%d with %j is an overload: 503 with Retry-After', async (status, body, headers, wait) => {
    harness.upstream.reply = (response) =>
      response.writeHead(status, headers).end(JSON.stringify(body));
    const answer = await free({});
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, wait]);
  });
});

it('ten failures of two keys of one account close the route for that account alone', async () => {
  const account = await harness.gateway.account();
  const other = await harness.gateway.keyOf(account.accountId);
  harness.upstream.reply = json({ error: { code: 500 } });
  for (let call = 0; call < MANY; call++) {
    const key = call % 2 ? other : account.key;
    await postJson(harness.url, { authorization: `Bearer ${key}` }, ASK);
  }
  harness.upstream.reply = works;
  const neighbour = await harness.gateway.account();
  expect((await postJson(harness.url, neighbour.headers, ASK)).status).toBe(200);
});
