import { describe, expect, it } from '@jest/globals';
import { answerFaults } from './support/built/answer-faults.js';

const ACCOUNT = {
  object: 'account',
  id: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
  available_microusd: '5000000',
  held_microusd: '0',
  low_balance_microusd: null,
  burn_microusd_per_day: '0',
  runs_out_on: null,
  topup_url: null,
  credits: [],
};
const JSON_TYPE = 'application/json; charset=utf-8';
const IDS = { 'x-gateway-execution-id': 'exec_1', 'x-request-id': 'exec_1' };

/** An answer to `GET /v1/account` that the document describes, with these changes. */
const given = (body: unknown, changes: object = {}) => ({
  method: 'GET',
  path: '/v1/account',
  status: 200,
  headers: { ...IDS, 'content-type': JSON_TYPE },
  body: JSON.stringify(body),
  ...changes,
});

const errorOf = (code: string, type: string) => ({
  error: { message: 'No.', type, param: null, code },
});

describe('an answer held against the document', () => {
  it('has no fault where it is as described', () => {
    expect(answerFaults(given(ACCOUNT))).toEqual([]);
    const unauthorized = errorOf('invalid_token', 'authentication_error');
    expect(answerFaults(given(unauthorized, { status: 401 }))).toEqual([]);
  });

  it.each([
    ['a field that is not described', given({ ...ACCOUNT, provider: 'x' }), /provider/],
    ['a field of another type', given({ ...ACCOUNT, held_microusd: 0 }), /held_microusd must be/],
    ['an absent field', given({ ...ACCOUNT, id: undefined }), /required property 'id'/],
    ['a word outside the enum', given({ ...ACCOUNT, object: 'acct' }), /equal to one of/],
    ['a status', given(ACCOUNT, { status: 202 }), /the status is not described/],
    [
      'a type of the body',
      given(ACCOUNT, { headers: { ...IDS, 'content-type': 'text/html' } }),
      /the type text\/html is not described/,
    ],
    [
      'a header',
      given(ACCOUNT, { headers: { ...IDS, 'content-type': JSON_TYPE, 'x-route': 'x' } }),
      /the header x-route is not described/,
    ],
    [
      'a code of an error',
      given(errorOf('not_found', 'authentication_error'), { status: 401 }),
      /the code not_found is not described/,
    ],
  ])('has a fault for %s', (_title, answer, fault) => {
    expect(answerFaults(answer)).toEqual([expect.stringMatching(fault)]);
    expect(answerFaults(answer)[0]).toMatch(/^GET \/v1\/account \d{3}: /);
  });

  it('has none for a path that the document does not have', () => {
    expect(answerFaults(given({}, { path: '/docs' }))).toEqual([]);
  });

  it('is checked event by event where it is a stream', () => {
    const chunk = {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'gen-5-mini',
      choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }],
    };
    const stream = (...events: object[]) => ({
      method: 'POST',
      path: '/v1/chat/completions',
      status: 200,
      headers: { ...IDS, 'content-type': 'text/event-stream' },
      body: `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`,
    });
    expect(answerFaults(stream(chunk, chunk))).toEqual([]);
    expect(answerFaults(stream(chunk, { ...chunk, provider: 'x' })).join()).toMatch(/provider/);
  });
});
