import { describe, expect, it } from '@jest/globals';
import { bodyInApiFamily } from '../../common/errors/error-body.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { ProviderError } from '../../providers/http/provider-error.js';
import { withContextSizes } from './context-limit.js';

const upstream = { provider: 'any', sent: true, upstreamCode: 'context_length_exceeded' };
const TOO_LONG = new ProviderError('rejected', upstream).toGatewayError('chat');

const told = async (prompt: number | undefined, maxTokens?: number, contextLength?: number) => {
  const promptTokens = () => Promise.resolve(prompt);
  const error = await withContextSizes(TOO_LONG, { promptTokens, maxTokens, contextLength });
  return bodyInApiFamily(error, 'messages').error;
};

describe('the refusal of a conversation that is too long', () => {
  it('has the numbers that clients read', async () => {
    expect(await told(210_000, 5_000, 200_000)).toMatchObject({
      type: 'invalid_request_error',
      code: 'provider_rejected_request',
      message: 'prompt is too long: 210000 tokens > 200000 maximum',
    });
    expect((await told(190_000, 21_333, 200_000)).message).toMatch(
      /^input length and `max_tokens` exceed context limit: 190000 \+ 21333 > 200000, /,
    );
  });

  it.each([
    ['our count does not explain it', 150_000, 50_000, 200_000],
    ['the prompt could not be counted soon', undefined, 50_000, 200_000],
    ['the caller set no cap', 199_999, undefined, 200_000],
    ['the length of the context is not known', 210_000, 50_000, undefined],
  ])('has none where %s', async (_why, prompt, maxTokens, contextLength) => {
    const { message } = await told(prompt, maxTokens, contextLength);
    expect(message).toMatch(/^prompt is too long: \D+$/);
  });

  it('is the only one that is told in other words', async () => {
    const sizes = { promptTokens: () => Promise.resolve(9), maxTokens: 9, contextLength: 9 };
    for (const other of [new GatewayError('invalid_request', 'x'), new TypeError('y'), 'z'])
      expect(await withContextSizes(other, sizes)).toBe(other);
  });
});
