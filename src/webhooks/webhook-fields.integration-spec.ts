import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway-error.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import {
  AudioWebhook,
  AudioWebhookSecret,
  VideoWebhook,
  VideoWebhookSecret,
} from './webhook-fields.js';

class AudioBody {
  @AudioWebhook() webhook?: string;
  @AudioWebhookSecret() webhook_secret?: string;
}

class VideoBody {
  @VideoWebhook() webhook?: string;
  @VideoWebhookSecret() webhook_secret?: string;
}

const URL = 'https://example.com/hook';
const secretOf = (length: number): string => 'é'.repeat(length);

function faultOf(dto: typeof AudioBody | typeof VideoBody, body: object): string | undefined {
  try {
    validatorOf(dto).parse(body);
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.code} ${error.param ?? ''}`;
  }
}

describe('The webhook fields of audio tasks', () => {
  it.each([
    [{}],
    [{ webhook: null, webhook_secret: null }],
    [{ webhook: URL, webhook_secret: secretOf(16) }],
    [{ webhook: URL, webhook_secret: secretOf(256) }],
    [{ webhook: URL, webhook_secret: ' '.repeat(16) }],
  ])('take %j', (body) => {
    expect(faultOf(AudioBody, body)).toBeUndefined();
  });

  it.each([
    [{ webhook: URL }, 'webhook_secret'],
    [{ webhook: URL, webhook_secret: null }, 'webhook_secret'],
    [{ webhook: URL, webhook_secret: '' }, 'webhook_secret'],
    [{ webhook: URL, webhook_secret: secretOf(15) }, 'webhook_secret'],
    [{ webhook: URL, webhook_secret: secretOf(257) }, 'webhook_secret'],
    [{ webhook: URL, webhook_secret: 1234567890123456 }, 'webhook_secret'],
    [{ webhook_secret: secretOf(16) }, 'webhook_secret'],
    [{ webhook: null, webhook_secret: secretOf(16) }, 'webhook_secret'],
    [{ webhook: '', webhook_secret: secretOf(16) }, 'webhook'],
    [{ webhook: 5, webhook_secret: secretOf(16) }, 'webhook'],
    [{ webhook: ['https://example.com'], webhook_secret: secretOf(16) }, 'webhook'],
    [{ webhook: 'example.com/hook', webhook_secret: secretOf(16) }, 'webhook'],
    [{ webhook: 'ftp://example.com/hook', webhook_secret: secretOf(16) }, 'webhook'],
    [{ webhook: `${URL}/\ud800`, webhook_secret: secretOf(16) }, 'webhook'],
    [{ webhook: `${URL}/${'a'.repeat(4_096)}`, webhook_secret: secretOf(16) }, 'webhook'],
  ])('refuse %j (HOOK-27, HOOK-33, G-79)', (body, param) => {
    expect(faultOf(AudioBody, body)).toBe(`invalid_task_command ${param}`);
  });

  it('name the only allowed scheme in the error', () => {
    const body = { webhook: 'ftp://example.com/hook', webhook_secret: secretOf(16) };
    expect(() => validatorOf(AudioBody).parse(body)).toThrow('webhook must be an https URL.');
  });
});

describe('The webhook fields of video tasks', () => {
  it.each([
    [{}],
    [{ webhook: URL }],
    [{ webhook: 'http://example.com/hook' }],
    [{ webhook: URL, webhook_secret: secretOf(8) }],
    [{ webhook: URL, webhook_secret: secretOf(128) }],
  ])('take %j (HOOK-28)', (body) => {
    expect(faultOf(VideoBody, body)).toBeUndefined();
  });

  it.each([
    [{ webhook: URL, webhook_secret: secretOf(7) }, 'webhook_secret'],
    [{ webhook: URL, webhook_secret: secretOf(129) }, 'webhook_secret'],
    [{ webhook: URL, webhook_secret: true }, 'webhook_secret'],
    [{ webhook_secret: secretOf(8) }, 'webhook_secret'],
    [{ webhook: 'hook' }, 'webhook'],
    [{ webhook: `${URL}/\udc00` }, 'webhook'],
  ])('refuse %j (HOOK-28, HOOK-33, G-79)', (body, param) => {
    expect(faultOf(VideoBody, body)).toBe(`invalid_request ${param}`);
  });
});
