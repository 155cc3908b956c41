import { describe, expect, it } from '@jest/globals';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import { bodyInApiFamily, statusInApiFamily } from '../../src/common/errors/error-body.js';
import { GatewayError } from '../../src/common/errors/gateway-error.js';

describe('an error of Messages', () => {
  it('begins with the words that clients know where the conversation is too long', () => {
    const upstream = { provider: 'anthropic', sent: true, upstreamCode: 'context_length_exceeded' };
    const error = new ProviderError('rejected', upstream).toGatewayError('chat');
    expect(bodyInApiFamily(error, 'messages', 'exec_1')).toMatchObject({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'provider_rejected_request',
        message: expect.stringMatching(/^prompt is too long: /),
      },
      request_id: 'exec_1',
    });
    expect(bodyInApiFamily(error, 'general')).toMatchObject({
      error: { message: 'The provider refused the request: context_length_exceeded.' },
    });
  });

  it('is 529 and `Overloaded` where the provider is down, and 503 elsewhere', () => {
    const error = new GatewayError('provider_unavailable', 'The model is not available right now.');
    expect(statusInApiFamily(error, 'messages')).toBe(529);
    expect(statusInApiFamily(error, 'general')).toBe(503);
    expect(bodyInApiFamily(error, 'messages')).toMatchObject({
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
  });
});
