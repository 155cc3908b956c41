import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import { StubUpstream } from '../support/stub-upstream.js';

let stub: StubUpstream;
let transport: HttpTransport;
beforeAll(() => {
  transport = new HttpTransport(2_000);
});
beforeEach(async () => {
  stub = await StubUpstream.start();
});
afterEach(() => stub.stop());
afterAll(() => transport.close());

/** The failure of a picture for this answer of the vendor. */
async function failureOf(status: number, answer: object): Promise<ProviderError> {
  stub.reply = (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'k'.repeat(20), transport };
  const { image } = geminiPorts({ ...access, clock: new SystemClock() });
  const { signal } = new AbortController();
  const error: unknown = await image!
    .generateImage({ prompt: 'a cat' }, { upstreamModel: 'm', signal })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
}

const errorOf = (code: number, status: string, more: object = {}) => ({
  error: { code, message: 'Words of the vendor.', status, ...more },
});
const ended = (finishReason: string) => ({
  candidates: [{ content: { parts: [], role: 'model' }, finishReason, index: 0 }],
  usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
});

describe('an error of Gemini', () => {
  it.each([
    [400, 'INVALID_ARGUMENT', 'rejected', 'provider_rejected_request'],
    [400, 'FAILED_PRECONDITION', 'account', 'provider_unavailable'],
    [401, 'UNAUTHENTICATED', 'account', 'provider_unavailable'],
    [403, 'PERMISSION_DENIED', 'account', 'provider_unavailable'],
    [404, 'NOT_FOUND', 'misconfigured', 'no_eligible_route'],
    [429, 'RESOURCE_EXHAUSTED', 'rate_limited', 'provider_rate_limited'],
    [500, 'INTERNAL', 'http_error', 'provider_http_error'],
    [503, 'UNAVAILABLE', 'unavailable', 'provider_unavailable'],
    [504, 'DEADLINE_EXCEEDED', 'timeout', 'provider_timeout'],
  ])('%i %s is of the kind %s', async (status, word, kind, code) => {
    const failure = await failureOf(status, errorOf(status, word));
    expect(failure.kind).toBe(kind);
    expect(failure.toGatewayError()).toMatchObject({ code });
    expect(failure.toGatewayError().message).not.toContain('Words');
  });

  it('about the key is a fault of the operator, whatever its status says', async () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ];
    expect((await failureOf(400, errorOf(400, 'INVALID_ARGUMENT', { details }))).kind).toBe(
      'account',
    );
    const told = { message: 'API key not valid. Please pass a valid API key.' };
    expect((await failureOf(400, errorOf(400, 'INVALID_ARGUMENT', told))).kind).toBe('account');
  });

  it.each([
    'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
    'The input token count exceeds the maximum number of tokens allowed 1048576',
  ])('about a prompt that is too long has the code of that: %s', async (message) => {
    const failure = await failureOf(400, errorOf(400, 'INVALID_ARGUMENT', { message }));
    expect(failure).toMatchObject({ kind: 'rejected', upstreamCode: 'context_length_exceeded' });
  });

  it('of a rate limit says how long to wait', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }];
    const failure = await failureOf(429, errorOf(429, 'RESOURCE_EXHAUSTED', { details }));
    expect(failure.retryAfterSeconds).toBe(34);
  });

  it('names the field that is wrong', async () => {
    const fieldViolations = [{ field: 'generation_config.seed', description: 'too large' }];
    const failure = await failureOf(
      400,
      errorOf(400, 'INVALID_ARGUMENT', { details: [{ fieldViolations }] }),
    );
    expect(failure.upstreamParam).toBe('generation_config.seed');
  });
});

describe('an answer of Gemini without a result', () => {
  it.each(['SAFETY', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'OTHER', 'IMAGE_SAFETY'])(
    'is a refusal where the prompt was blocked for %s',
    async (blockReason) => {
      const blocked = {
        promptFeedback: { blockReason, safetyRatings: [] },
        usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
      };
      const failure = await failureOf(200, blocked);
      expect(failure).toMatchObject({ kind: 'rejected', upstreamCode: blockReason });
      expect(failure.toGatewayError().message).toContain(blockReason.toLowerCase());
    },
  );

  it.each(['NO_IMAGE', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'RECITATION', 'SAFETY'])(
    'is a refusal where it ended with %s',
    async (finishReason) => {
      const failure = await failureOf(200, ended(finishReason));
      expect(failure).toMatchObject({ kind: 'rejected', upstreamCode: finishReason });
    },
  );

  it.each([ended('STOP'), ended('MALFORMED_FUNCTION_CALL'), {}, { candidates: [] }])(
    'is a failure of the provider else',
    async (answer) => {
      expect(await failureOf(200, answer)).toMatchObject({ kind: 'http_error' });
    },
  );
});
