import { describe, expect, it } from '@jest/globals';
import { classifyError, kindOfStatus } from './error-classification.js';
import { carriesError } from './error-facts.js';
import { ProviderError } from './provider-error.js';
import { waitInHeaders } from './retry-after.js';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const classify = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  classifyError({ status, headers, body }, NOW_MS);

describe('the wait that a vendor names', () => {
  it.each([
    [{ 'retry-after': '17' }, 17],
    [{ 'retry-after': ' 1.2 ' }, 2],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30],
    [{ 'retry-after': 'Thu, 01 Jan 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '-5' }, 0],
    [{}, undefined],
    [{ 'retry-after-ms': '1500' }, 2],
    [{ 'retry-after-ms': '86400', 'retry-after': '3' }, 87],
    [{ 'retry-after-ms': 'soon', 'retry-after': '3' }, 3],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m30s' }, 90],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '250ms' }, 1],
    [{ 'x-ratelimit-remaining-tokens': '7', 'x-ratelimit-reset-tokens': '6m0s' }, undefined],
    [
      {
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:12Z',
      },
      12,
    ],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW_MS + 4_200}` }, 5],
  ])('is read from the headers %j', (headers, seconds) => {
    expect(waitInHeaders(headers, NOW_MS)).toBe(seconds);
  });

  const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' };
  it.each([
    [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [retryInfo] } }, 34],
    [[{ error: { code: 429, details: [retryInfo] } }], 34],
    [{ error: 'Model x is currently loading', estimated_time: 20.1 }, 21],
    [{ error: { message: 'slow', retry_after: 7 } }, 7],
    [{ error: { code: 429, metadata: { headers: { 'Retry-After': '9' } } } }, 9],
    [{ error: { code: 429 } }, undefined],
  ])('is read from the body %j', (body, seconds) => {
    expect(classify(429, body).retryAfterSeconds).toBe(seconds);
  });
});

describe('ProviderError.toGatewayError', () => {
  const limited = (retryAfter?: number) =>
    new ProviderError('rate_limited', {
      provider: 'acme',
      sent: true,
      retryAfterSeconds: retryAfter,
    }).toGatewayError().retryAfterSeconds;

  it('answers a rate limit with the provider’s wait, 1 to 60 s, or 5 s when it names none (ERR-10)', () => {
    expect([limited(), limited(0), limited(17), limited(3600)]).toEqual([5, 1, 17, 60]);
  });

  it('has a code of its own for a text too long for speech only', () => {
    const error = new ProviderError('too_long', { provider: 'acme', sent: true });
    expect(error.toGatewayError('speech')).toMatchObject({
      code: 'input_too_long',
      param: 'input',
    });
    expect(error.toGatewayError('dialogue').code).toBe('provider_rejected_request');
  });

  it.each([
    ['unsupported_value', ': unsupported_value.'],
    ['acme_blocked', '.'],
    ['eleven_v3_refused', '.'],
    ['use_gpt_5', '.'],
    ['openai.policy', '.'],
    ['suno_error', '.'],
    ['invalid-argument', ': invalid_argument.'],
    ['InputTextSensitiveContentDetected', ': input_text_sensitive_content_detected.'],
    ['INVALID_ARGUMENT', ': invalid_argument.'],
    ['HTTPError', ': http_error.'],
    ['value_error.number', ': value_error.number.'],
    ['Bad Request', ': bad_request.'],
    ['Client specified an invalid argument', '.'],
    ['upstream.internal.example.com', '.'],
    ['gpu_1.acme_prod.k8s', '.'],
    ['api_example_com', '.'],
    ['api other example', '.'],
    ['10.0.0.5', '.'],
    ['req_011CSHoEeqs5C35K2UUqR7Fy', '.'],
    ['1026', '.'],
    ['FAILED', '.'],
    ['x'.repeat(65), '.'],
  ])(
    'tells the code %s of a refusal only where it names no vendor (CONV-06, ERR-41, G-13)',
    (code, end) => {
      const detail = { provider: 'acme', sent: true, upstreamCode: code };
      const { message } = new ProviderError('rejected', detail).toGatewayError();
      expect(message).toBe(`The provider refused the request${end}`);
    },
  );

  it('keeps nothing of a code but words, digits and punctuation', () => {
    const detail = { provider: 'acme', sent: true, upstreamCode: 'quota <b>sk-1</b> \n' };
    expect(new ProviderError('account', detail).upstreamCode).toBe('quota bsk-1b');
  });

  it.each([
    ['rate_limit', ', rate_limit'],
    ['InvalidArgument', ', InvalidArgument'],
    ['1026', ', 1026'],
    ['No such key at https://api.acme.example: k-123', ''],
    ['ask api acme example', ''],
    ['value_error.number', ', value_error.number'],
    ['openai.policy', ', openai.policy'],
    ['api.acme.example', ''],
    ['acme.example:8443', ''],
    ['gpu_1.acme_prod.k8s', ''],
    ['api-acme.k8s', ''],
    ['api_acme_com', ''],
    ['10.0.0.5', ''],
  ])('tells the log of the code %s only where it is a plain word or a number', (code, end) => {
    const detail = { provider: 'acme', sent: true, upstreamCode: code };
    expect(new ProviderError('account', detail).message).toBe(`provider acme: account${end}`);
  });
});

describe('classifyError', () => {
  const anthropic = (type: string, message = 'words') => ({
    type: 'error',
    error: { type, message },
    request_id: 'req_1',
  });
  it.each([
    // OpenAI and its likes.
    [429, { error: { code: 'rate_limit_exceeded', type: 'requests' } }, 'rate_limited'],
    [429, { error: { code: null, type: 'insufficient_quota' } }, 'account'],
    [400, { error: { code: 'billing_hard_limit_reached' } }, 'account'],
    [403, { error: { code: 'content_policy_violation' } }, 'rejected'],
    [404, { error: { code: 'model_not_found' } }, 'misconfigured'],
    [500, { error: { code: 'server_is_overloaded' } }, 'unavailable'],
    [401, { error: { type: 'invalid_request_error', code: null } }, 'account'],
    [400, { error: { code: '__proto__', type: 'constructor' } }, 'rejected'],
    [400, { error: 'text' }, 'rejected'],
    [403, { error: { code: 'insufficient_user_quota' } }, 'account'],
    [400, { object: 'error', type: 'BadRequestError', code: 400, message: 'x' }, 'rejected'],
    // OpenRouter: a refusal of the content has reasons.
    [403, { error: { code: 403, metadata: { reasons: ['violence'] } } }, 'rejected'],
    [200, { error: { code: 402, message: 'x' } }, 'account'],
    [200, { choices: [{ error: { code: 502, message: 'x' } }] }, 'http_error'],
    [200, { choices: [{ finish_reason: 'error' }] }, 'http_error'],
    [200, { choices: [{ error: { code: 429 }, finish_reason: 'error' }] }, 'rate_limited'],
    // Google.
    [400, [{ error: { code: 400, message: 'API key not valid.', status: 'X' } }], 'account'],
    [400, { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'x' } }, 'rejected'],
    [429, [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }], 'rate_limited'],
    [503, { error: { code: 503, status: 'UNAVAILABLE' } }, 'unavailable'],
    [400, { error: { status: 'X', details: [{ reason: 'API_KEY_INVALID' }] } }, 'account'],
    // Anthropic.
    [529, anthropic('overloaded_error'), 'unavailable'],
    [200, anthropic('overloaded_error'), 'unavailable'],
    [200, anthropic('rate_limit_error'), 'rate_limited'],
    [200, anthropic('invalid_request_error'), 'rejected'],
    [200, anthropic('api_error'), 'http_error'],
    [400, anthropic('invalid_request_error', 'Your credit balance is too low.'), 'account'],
    [400, anthropic('invalid_request_error', "'credit balance is too low' is no role"), 'rejected'],
    // ElevenLabs.
    [400, { detail: { code: 'max_character_limit_exceeded' } }, 'too_long'],
    [400, { detail: { status: 'voice_not_found' } }, 'misconfigured'],
    [401, { detail: { status: 'quota_exceeded' } }, 'account'],
    [400, { detail: { status: 'detected_unusual_activity' } }, 'account'],
    [403, { detail: { code: 'content_policy_violation' } }, 'rejected'],
    [403, { detail: { code: 'only_for_creator+' } }, 'account'],
    [429, { detail: { code: 'blocked' } }, 'rate_limited'],
    [429, { detail: { status: 'system_busy' } }, 'unavailable'],
    [503, { detail: { status: 'system_busy' } }, 'unavailable'],
    [400, { detail: { code: '__proto__' } }, 'rejected'],
    [404, { detail: 'Not Found' }, 'misconfigured'],
    [422, { detail: [{ msg: 'x', type: 'missing' }] }, 'rejected'],
    // xAI, MiniMax, Kling, Hugging Face.
    [400, { code: 'invalid-argument', error: 'text' }, 'rejected'],
    [200, { base_resp: { status_code: 1002, status_msg: 'rate limit' } }, 'rate_limited'],
    [200, { base_resp: { status_code: 1008, status_msg: 'balance' } }, 'account'],
    [200, { choices: [], base_resp: { status_code: 1027, status_msg: 'x' } }, 'rejected'],
    [200, { base_resp: { status_code: 1000, status_msg: 'x' } }, 'http_error'],
    [200, { code: 1301, message: 'x', request_id: 'r' }, 'rejected'],
    [200, { code: 1102, message: 'x', request_id: 'r' }, 'account'],
    [200, { code: 5000, message: 'x', request_id: 'r' }, 'http_error'],
    [200, { error: 'Model acme/x is currently loading', estimated_time: 20 }, 'unavailable'],
    [200, { detail: 'Too big' }, 'http_error'],
    [200, { message: 'x', request_id: 'r' }, 'http_error'],
    // No JSON: an HTML page, or nothing.
    [500, null, 'http_error'],
    [502, null, 'http_error'],
    [529, null, 'unavailable'],
    [407, null, 'account'],
    [421, null, 'misconfigured'],
    [426, null, 'misconfigured'],
    [408, null, 'timeout'],
  ])('finds in %d %j the kind %s', (status, body, kind) => {
    expect(classify(status, body).kind).toBe(kind);
    if (status === 200) expect(carriesError(body)).toBe(true);
  });

  it.each([
    [{ error: { code: 'rate_limit_exceeded' } }, 429],
    [anthropic('overloaded_error'), 503],
    [{ error: { code: 451, message: 'x' } }, 451],
    [{ error: { code: 'content_filter' } }, 400],
    [{ error: 'something broke badly today' }, 200],
  ])('gives the 2xx answer %j the status %d', (body, status) => {
    expect(classify(200, body).status).toBe(status);
  });

  it.each([
    [{ error: { code: 'bad_one', type: 'general' } }, 'bad_one'],
    [{ error: { code: null, type: 'general' } }, 'general'],
    [{ error: { code: 400, status: 'INVALID_ARGUMENT' } }, 'INVALID_ARGUMENT'],
    [
      { code: 'Client specified an invalid argument', error: 'invalid-value' },
      'Client specified an invalid argument',
    ],
    [{ error: 'invalid-voice' }, 'invalid-voice'],
    [{ error: 'The user of acme did something' }, undefined],
    [{ detail: [{ loc: ['body'], type: 'less_than_equal' }] }, 'less_than_equal'],
    [[{ error: { status: 'OUT_OF_RANGE' } }], 'OUT_OF_RANGE'],
    [{ error: { code: 400 } }, undefined],
    [{ base_resp: { status_code: 1026, status_msg: 'a b c d' } }, '1026'],
  ])('takes from %j the code %s', (body, code) => {
    expect(classify(400, body).code).toBe(code);
  });

  const nested = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as unknown;
  it.each([
    ['a path of its own', { error: { param: 'messages[0].content' } }, 'messages[0].content'],
    ['a location', { detail: [{ loc: ['body', 'inputs', 3, 'text'] }] }, 'inputs.3.text'],
    ['no location', { detail: [{ loc: 'body' }] }, undefined],
    ['a list without end', { detail: [{ loc: ['body', nested] }] }, undefined],
    ['an object without text', { detail: [{ loc: ['body', { toString: 1 }] }] }, undefined],
    ['a field beside its message', { detail: { param: 'voice' } }, 'voice'],
    [
      'a violation of Google’s',
      { error: { details: [{ fieldViolations: [{ field: 'temperature' }] }] } },
      'temperature',
    ],
  ])('finds the field that is named: %s', (_what, body, param) => {
    expect(classify(400, body).param).toBe(param);
  });

  it.each([
    { choices: [{ delta: {} }] },
    {
      choices: [{ message: {}, finish_reason: 'stop' }],
      error: null,
      base_resp: { status_code: 0 },
    },
    { choices: [], usage: {}, error: {} },
    { id: 'job', status: 'queued', code: 0, message: 'SUCCEED' },
    { data: [{ b64_json: '' }], message: 'ok' },
  ])('takes %j for no error', (body) => {
    expect(carriesError(body)).toBe(false);
  });

  it('classifies an unexplained 4xx as a rejection and everything else as a failure', () => {
    expect([400, 409, 413, 422].map(kindOfStatus)).toEqual(Array(4).fill('rejected'));
    expect([301, 500, 502].map(kindOfStatus)).toEqual(Array(3).fill('http_error'));
  });
});
