import { describe, expect, it } from '@jest/globals';
import { ProviderError } from './provider-error.js';

const DETAIL = { provider: 'acme', sent: true, retryAfterSeconds: 7 };

describe('a failure after a part of the work was served', () => {
  it.each(['rate_limited', 'unavailable', 'http_error', 'rejected'] as const)(
    'tells SDKs not to retry and names no time to wait: %s (G-51)',
    (kind) => {
      const part = Object.assign(new ProviderError(kind, DETAIL), { isPartial: true });
      const refusal = { shouldRetry: false, retryAfterSeconds: undefined };
      expect(part.toGatewayError()).toMatchObject(refusal);
      expect(part.toGatewayError().message).not.toContain('Retry');
      expect(part.safeToFailover).toBe(false);
    },
  );

  it('is no other failure: those may be tried again', () => {
    const refusal = { shouldRetry: undefined, retryAfterSeconds: 7 };
    const limited = new ProviderError('rate_limited', DETAIL);
    expect(limited.toGatewayError()).toMatchObject(refusal);
    expect(limited.toGatewayError().message).toContain('Retry later.');
    expect(limited.safeToFailover).toBe(true);
  });
});
