import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { ProviderContext } from '../../src/providers/http/provider-context.js';
import type { AttemptContext, UpstreamTerms } from '../../src/providers/ports/attempt.js';
import { StubUpstream, type SeenRequest } from '../support/stub-upstream.js';

const KEY = 'sk-upstream-secret-4711';
const TIMEOUT_MS = 300;

/** What an adapter has to show to pass the contract. */
export interface PortContract {
  /** Runs the call to its end, including the body, and returns its result. */
  readonly run: (access: ProviderContext, context: AttemptContext) => Promise<unknown>;
  /** A good answer, and the result that `run` returns for it. */
  readonly good: { readonly type: string; readonly body: Buffer; readonly result: unknown };
  /** Checks what the provider received from `run` with upstream model `upstream-model`. */
  readonly expectRequest: (request: SeenRequest) => void | Promise<void>;
}

/** Upstream status, the public code for it (API: Errors; decision G-13), and the body that must not be shown. */
const FAULTS: readonly [number, string, string][] = [
  [
    400,
    'provider_rejected_request',
    '{"detail":{"code":"validation_error","message":"secret words"}}',
  ],
  [422, 'provider_rejected_request', '{"detail":[{"loc":["body"],"msg":"secret words"}]}'],
  [413, 'provider_rejected_request', 'secret words'],
  [401, 'provider_unavailable', '{"detail":{"status":"invalid_api_key"}}'],
  [402, 'provider_unavailable', '{}'],
  [403, 'provider_unavailable', '{"error":{"message":"secret words","code":"tier"}}'],
  [404, 'no_eligible_route', '"Not Found"'],
  [405, 'no_eligible_route', ''],
  [407, 'provider_unavailable', ''],
  [408, 'provider_timeout', ''],
  [429, 'provider_rate_limited', '{}'],
  [500, 'provider_http_error', '<html>secret words</html>'],
  [502, 'provider_http_error', ''],
  [503, 'provider_unavailable', ''],
  [504, 'provider_timeout', ''],
  [302, 'provider_http_error', ''],
  [501, 'provider_http_error', 'x'.repeat(100_000)],
];

const ENCODINGS: readonly [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['Deflate', deflateRawSync],
];

/** The suite every call of every adapter must pass, against a real server. */
export function describePortContract(name: string, contract: PortContract): void {
  describeContract(name, contract, true);
}

/** Only the request and the good answer, for a second command of a call that has passed the whole suite. */
export function describeRequest(name: string, contract: PortContract): void {
  describeContract(name, contract, false);
}

function describeContract(name: string, contract: PortContract, withFaults: boolean): void {
  // eslint-disable-next-line jest/valid-title -- the name of the adapter under test
  describe(name, () => {
    let stub: StubUpstream;
    let transport: HttpTransport;
    beforeAll(() => {
      transport = new HttpTransport(TIMEOUT_MS);
    });
    beforeEach(async () => {
      stub = await StubUpstream.start();
    });
    afterEach(() => stub.stop());
    afterAll(() => transport.close());

    const run = (
      signal = new AbortController().signal,
      baseUrl = stub.url,
      terms?: UpstreamTerms,
    ): Promise<unknown> => {
      const access = { id: 'acme', baseUrl, apiKey: KEY, transport, clock: new SystemClock() };
      return contract.run(access, { upstreamModel: 'upstream-model', signal, terms });
    };
    const fault = async (promise = run()): Promise<ProviderError> => {
      const error: unknown = await promise.then(
        () => new Error('did not fail'),
        (reason: unknown) => reason,
      );
      if (!(error instanceof ProviderError)) throw error;
      const face = error.toGatewayError().message + error.message;
      expect(face).not.toMatch(/secret|127\.0\.0\.1|sk-upstream/);
      expect(JSON.stringify(error) + String(error.stack)).not.toContain(KEY);
      expect(error.cause).toBeUndefined();
      return error;
    };
    const answer = (status: number, body: Buffer | string, headers = {}): void => {
      stub.reply = (response) => response.writeHead(status, headers).end(body);
    };
    const { type, body, result } = contract.good;

    it('sends the mapped request once, with the key, and returns what the provider made', async () => {
      answer(200, body, { 'content-type': type });
      await expect(run()).resolves.toEqual(result);
      expect(JSON.stringify(stub.only.headers)).toContain(KEY);
      await contract.expectRequest(stub.only);
    });

    it('requests no encoding, and sends the additional fields of the row', async () => {
      answer(200, body, { 'content-type': type });
      await run(undefined, undefined, { headers: { 'x-row': 'a' }, constants: { row_word: 'b' } });
      expect(stub.only.headers).toMatchObject({ 'accept-encoding': 'identity', 'x-row': 'a' });
      // Some protocols have their settings in the query, beside a body that is a file.
      const fields = stub.only.url + stub.only.body.toString();
      const hasBody = !['GET', 'DELETE'].includes(stub.only.method);
      expect(hasBody ? fields : 'row_word').toContain('row_word');
    });

    it.each(ENCODINGS)('reads a good answer in %s all the same', async (encoding, encode) => {
      answer(200, encode(body), { 'content-type': type, 'content-encoding': encoding });
      await expect(run()).resolves.toEqual(result);
    });

    it('reports the cost that the provider reports', async () => {
      answer(200, body, { 'content-type': type, 'character-cost': '120' });
      const figures: unknown[] = [];
      const access = { id: 'acme', baseUrl: stub.url, apiKey: KEY, transport };
      await contract.run(
        { ...access, clock: new SystemClock() },
        {
          upstreamModel: 'upstream-model',
          signal: new AbortController().signal,
          owner: {
            signal: new AbortController().signal,
            accountId: 'a',
            onFigures: (told) => figures.push(told),
          },
        },
      );
      expect(figures).toContainEqual({ 'character-cost': '120' });
    });

    if (!withFaults) return;

    it('treats a response with a broken encoding as a failure', async () => {
      const bytes = gzipSync(body);
      answer(200, bytes.subarray(0, bytes.length >> 1), { 'content-encoding': 'gzip' });
      expect(await fault()).toMatchObject({ kind: 'http_error', sent: true });
    });

    it('waits no longer than the terms of the row say', async () => {
      stub.reply = () => undefined;
      const patient = new HttpTransport(60_000);
      const access = { id: 'acme', baseUrl: stub.url, apiKey: KEY, clock: new SystemClock() };
      const { signal } = new AbortController();
      const context = { upstreamModel: 'upstream-model', signal, terms: { timeoutMs: 100 } };
      const asked = contract.run({ ...access, transport: patient }, context);
      expect(await fault(asked)).toMatchObject({ kind: 'timeout' });
      await patient.close();
    });

    it('reads a response that arrives in many small pieces', async () => {
      stub.reply = async (response) => {
        for (let at = 0; at < Math.min(body.length, 20); at += 1) {
          response.write(body.subarray(at, at + 1));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        response.end(body.subarray(20));
      };
      await expect(run()).resolves.toEqual(result);
    });

    it.each(FAULTS)(
      'turns upstream %d into %s without a second request',
      async (status, code, text) => {
        answer(status, text, { location: '/elsewhere', 'x-request-id': 'req_1' });
        const error = await fault();
        expect(error.toGatewayError().code).toBe(code);
        expect(error).toMatchObject({
          upstreamStatus: status,
          sent: true,
          providerRequestId: 'req_1',
        });
        expect(stub.seen).toHaveLength(1);
      },
    );

    it('passes on Retry-After of a rate limit', async () => {
      answer(429, '', { 'retry-after': '17' });
      expect((await fault()).toGatewayError().retryAfterSeconds).toBe(17);
    });

    it('reports a silent provider as timeout that SDKs do not repeat, and closes the connection', async () => {
      stub.reply = () => undefined;
      const error = await fault();
      expect(error).toMatchObject({ kind: 'timeout', sent: true, safeToFailover: false });
      expect(error.toGatewayError().shouldRetry).toBe(false);
      await stub.untilAborted();
    });

    it('reports silence inside the body as timeout', async () => {
      stub.reply = (response) => response.writeHead(200).write(body.subarray(0, body.length >> 1));
      expect(await fault()).toMatchObject({ kind: 'timeout', sent: true });
    });

    it('reports a connection reset before the head as failure and does not send again', async () => {
      stub.reply = (response) => response.destroy();
      expect(await fault()).toMatchObject({
        kind: 'http_error',
        sent: true,
        safeToFailover: false,
      });
      expect(stub.seen).toHaveLength(1);
    });

    it('reports a body cut short as failure', async () => {
      stub.reply = (response) => {
        response.writeHead(200).write(body.subarray(0, body.length >> 1));
        setTimeout(() => response.destroy(), 20);
      };
      expect(await fault()).toMatchObject({ kind: 'http_error', sent: true });
    });

    it.each([
      ['HTML', '<!doctype html><html><body>It works</body></html>'],
      ['an error in JSON', '["not what was asked for"]'],
      ['nothing', ''],
    ])('refuses a 200 that holds %s', async (_what, text) => {
      answer(200, text, { 'content-type': 'text/html' });
      expect(await fault()).toMatchObject({ kind: 'http_error', upstreamStatus: 200 });
    });

    it('stops the provider when the signal aborts, with the reason of the signal', async () => {
      const controller = new AbortController();
      stub.reply = () => {
        controller.abort(new Error('client left'));
      };
      await expect(run(controller.signal)).rejects.toThrow('client left');
      await stub.untilAborted();
    });

    it('reports a refused connection as unavailable, never sent', async () => {
      const gone = await StubUpstream.start();
      const { url } = gone;
      await gone.stop();
      const error = await fault(run(undefined, url));
      expect(error).toMatchObject({ kind: 'unavailable', sent: false, safeToFailover: true });
    });
  });
}
