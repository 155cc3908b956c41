import { describe, expect, it } from '@jest/globals';
import { classifyElevenLabsError } from '../elevenlabs/elevenlabs-error.js';
import { classifyOpenAiError } from './openai-error.js';
import { retryAfterSeconds } from './error-classification.js';
import { ProviderError } from './provider-error.js';

describe('retryAfterSeconds', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    ['17', 17],
    [' 1.2 ', 2],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
    ['Thu, 01 Jan 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
    ['-5', 0],
  ])('reads %j as %j seconds', (header, seconds) => {
    expect(retryAfterSeconds(header, now)).toBe(seconds);
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
  ])(
    'tells the code %s of a refusal only where it names no vendor (CONV-06, ERR-41)',
    (code, end) => {
      const detail = { provider: 'acme', sent: true, upstreamCode: code };
      const { message } = new ProviderError('rejected', detail).toGatewayError();
      expect(message).toBe(`The provider refused the request${end}`);
    },
  );

  it('keeps nothing of a code but letters, digits and punctuation', () => {
    const detail = { provider: 'acme', sent: true, upstreamCode: 'quota <b>sk-1</b> \n' };
    expect(new ProviderError('account', detail).message).toBe(
      'provider acme: account, quotabsk-1b',
    );
  });
});

describe('classifyElevenLabsError', () => {
  it.each([
    [400, { detail: { code: 'max_character_limit_exceeded' } }, 'too_long'],
    [400, { detail: { status: 'voice_not_found' } }, 'misconfigured'],
    [401, { detail: { status: 'quota_exceeded' } }, 'account'],
    [403, { detail: { code: 'content_policy_violation' } }, 'rejected'],
    [403, { detail: { code: 'only_for_creator+' } }, undefined],
    [429, { detail: { code: 'blocked' } }, undefined],
    [503, { detail: { status: 'system_busy' } }, 'rate_limited'],
    [400, { detail: { code: '__proto__' } }, undefined],
    [404, { detail: 'Not Found' }, undefined],
    [422, { detail: [{ msg: 'x' }] }, undefined],
    [500, null, undefined],
  ])('finds in %d %j the kind %s', (status, body, kind) => {
    expect(classifyElevenLabsError(status, body).kind).toBe(kind);
  });
});

describe('the field that an ElevenLabs error names', () => {
  const nested = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as unknown;
  it.each([
    ['a path', ['body', 'inputs', 3, 'text'], 'inputs.3.text'],
    ['no path', 'body', undefined],
    ['a list without end', ['body', nested], undefined],
    ['an object without text', ['body', { toString: 1 }], undefined],
  ])('is read from %s', (_what, loc, param) => {
    expect(classifyElevenLabsError(400, { detail: [{ loc }] }).param).toBe(param);
  });
});

describe('classifyOpenAiError', () => {
  it.each([
    [429, { error: { code: 'rate_limit_exceeded', type: 'requests' } }, undefined],
    [429, { error: { code: null, type: 'insufficient_quota' } }, 'account'],
    [400, { error: { code: 'billing_hard_limit_reached' } }, 'account'],
    [403, { error: { code: 'content_policy_violation' } }, 'rejected'],
    [404, { error: { code: 'model_not_found' } }, 'misconfigured'],
    [500, { error: { code: 'server_is_overloaded' } }, 'unavailable'],
    [400, { error: { code: '__proto__', type: 'constructor' } }, undefined],
    [400, { error: 'text' }, undefined],
  ])('finds in %d %j the kind %s', (status, body, kind) => {
    expect(classifyOpenAiError(status, body).kind).toBe(kind);
  });
});
