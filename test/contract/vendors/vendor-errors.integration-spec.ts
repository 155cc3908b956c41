import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { VendorFile } from '../../../src/providers/async-json/vendor-file.js';
import type { ProviderError } from '../../../src/providers/http/provider-error.js';
import {
  vendorAnswers,
  CONTEXT,
  vendorPort,
  vendorPorts,
  SEA,
  vendor,
  VENDOR_KEY,
} from './vendor-harness.js';

describe('an error of a vendor', () => {
  const minimax: Partial<VendorFile> = {
    errors: {
      in_body: [{ path: 'base_resp.status_code', ok: ['0'] }],
      message: ['base_resp.status_msg'],
      codes: { rejected: ['1026', '2013'], rate_limited: ['1002'], account: ['1004', '1008'] },
      retry_after: 'base_resp.wait',
    },
  };

  it.each([
    [1026, 'rejected', undefined],
    [1002, 'rate_limited', 7],
    [1008, 'account', undefined],
    [1000, 'http_error', undefined],
  ])('with the code %s in the body of a 200 is %s', async (code, kind, wait) => {
    const base = { status_code: code, status_msg: 'no', ...(wait && { wait }) };
    vendorAnswers({ id: '1', base_resp: base });
    const submitting = vendorPort(minimax).submitVideo(SEA, CONTEXT);
    await expect(submitting).rejects.toMatchObject({
      kind,
      upstreamCode: String(code),
      retryAfterSeconds: wait,
    });
  });

  it('is none where the body has the good code', async () => {
    vendorAnswers({ id: '1', base_resp: { status_code: 0, status_msg: 'success' } });
    expect(await vendorPort(minimax).submitVideo(SEA, CONTEXT)).toBe('1');
  });

  it.each([
    [400, { error: { code: 'InputTextSensitiveContentDetected' } }, 'rejected'],
    [409, { error: { code: 'Busy' } }, 'unavailable'],
    [500, {}, 'http_error'],
  ])('with the status %s and %j is %s', async (status, json, kind) => {
    const errors = {
      code: ['error.code'],
      codes: { rejected: ['InputText*'] },
      statuses: { 409: 'unavailable' },
    } as const;
    vendorAnswers(json, status);
    const submitting = vendorPort({ errors }).submitVideo(SEA, CONTEXT);
    await expect(submitting).rejects.toMatchObject({ kind });
  });
});

describe('a message of a vendor without codes', () => {
  const errors = {
    code: ['code'],
    message: ['error.message', 'detail'],
    codes: { rejected: ['E1'] },
    statuses: { 422: 'rejected' },
    messages: {
      refused_content: ['*not shown*'],
      rate_limited: ['come back in {seconds} s*', '*{seconds}s left'],
      account: ['no * credit'],
    },
  } as const;

  it.each<[number, object, object]>([
    [400, { detail: 'This is NOT SHOWN here.' }, { kind: 'rejected', isContentRefusal: true }],
    [400, { detail: 'Come back in 2.5 s.' }, { kind: 'rate_limited', retryAfterSeconds: 3 }],
    [429, { detail: '3 jobs: 14s left' }, { kind: 'rate_limited', retryAfterSeconds: 14 }],
    [429, { detail: 'later' }, { kind: 'rate_limited', retryAfterSeconds: undefined }],
    [400, { error: { message: 'No more credit' } }, { kind: 'account' }],
    [400, { detail: 'No credit' }, { kind: 'rejected', isContentRefusal: false }],
    [400, { code: 'E1', detail: 'not shown' }, { kind: 'rejected', isContentRefusal: false }],
    [422, { detail: 'come back in 9 s' }, { kind: 'rejected', retryAfterSeconds: undefined }],
    // The vendor may have begun the work, and its message may quote the caller.
    [500, { detail: 'Failed: come back in 9 s' }, { kind: 'http_error' }],
    [503, { detail: 'not shown' }, { kind: 'unavailable', isContentRefusal: false }],
  ])('of status %s that is %j is told as %j', async (status, json, told) => {
    vendorAnswers(json, status);
    const submitting = vendorPort({ errors }).submitVideo(SEA, CONTEXT);
    await expect(submitting).rejects.toMatchObject(told);
  });

  it('is compared in no time, however long it is', async () => {
    const messages = { rate_limited: ['*a*a*a*a*a*a*a*b', '*{seconds}*a*b'] };
    vendorAnswers({ detail: 'a1'.repeat(20_000) }, 400);
    const began = performance.now();
    const submitting = vendorPort({ errors: { message: ['detail'], messages } }).submitVideo(
      SEA,
      CONTEXT,
    );
    await expect(submitting).rejects.toMatchObject({ kind: 'rejected' });
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe('refused content', () => {
  const errors = {
    code: ['error.code'],
    codes: { refused_content: ['Unsafe*'], rejected: ['Bad*'] },
    statuses: { 451: 'refused_content' },
  } as const;
  const told = { code: 'provider_rejected_request', status: 400 };

  it.each([
    [400, 'UnsafeText', 'The provider refused the request: content_policy_violation.'],
    [451, 'Other', 'The provider refused the request: content_policy_violation.'],
    [400, 'BadLength', 'The provider refused the request: bad_length.'],
  ])('of status %s and code %s is told as such alone', async (status, code, message) => {
    vendorAnswers({ error: { code } }, status);
    const error: unknown = await vendorPort({ errors })
      .submitVideo(SEA, CONTEXT)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'rejected', upstreamStatus: status, upstreamCode: code });
    expect((error as ProviderError).toGatewayError()).toMatchObject({ ...told, message });
  });

  it('of a finished job is told where its result is asked for', async () => {
    const result = { url: ['url'], request: { path: '/results/{id}' } };
    vendor.reply = (response, { url }) =>
      url.includes('/results/')
        ? response.writeHead(400).end('{"error":{"code":"UnsafeVideo"}}')
        : response.end('{"state":"completed"}');
    expect(await vendorPort({ errors, result }).readVideo('1', CONTEXT)).toMatchObject({
      state: 'failed',
      failure: { code: 'UnsafeVideo', isContentRefusal: true },
    });
  });

  it.each([
    [
      { state: 'completed', safe: false },
      { state: 'failed', failure: { isContentRefusal: true } },
    ],
    [{ state: 'completed', safe: true }, { state: 'unreadable' }],
    [{ state: 'completed' }, { state: 'unreadable' }],
    [{ state: 'dreaming', safe: false }, { state: 'pending' }],
  ])('is what %j says of a job, where the file names the field', async (json, report) => {
    const states = { processing: ['dreaming'], succeeded: ['completed'], failed: ['failed'] };
    const read = { path: '/jobs/{id}', state: 'state', states, refused_unless: 'safe' };
    vendorAnswers(json);
    expect(await vendorPort({ read }).readVideo('1', CONTEXT)).toMatchObject(report);
  });
});

describe('a status in the body', () => {
  const errors = {
    in_body: [{ path: 'fault.http', is_status: true }],
    statuses: { 418: 'account' },
  } as const;

  it.each([
    [200, 429, { kind: 'rate_limited', upstreamStatus: 429 }],
    [200, '418', { kind: 'account', upstreamStatus: 418 }],
    [200, 500, { kind: 'http_error', upstreamStatus: 500 }],
    [400, 401, { kind: 'account', upstreamStatus: 401 }],
  ])('of an answer with %s counts in its place: %s', async (status, http, told) => {
    vendorAnswers({ id: '1', fault: { http } }, status);
    const submitting = vendorPort({ errors }).submitVideo(SEA, CONTEXT);
    await expect(submitting).rejects.toMatchObject(told);
  });

  it.each([200, 0, 'none', 4_000])('is none where it is %s', async (http) => {
    vendorAnswers({ id: '1', fault: { http } });
    expect(await vendorPort({ errors }).submitVideo(SEA, CONTEXT)).toBe('1');
  });
});

describe('the probe of a vendor', () => {
  const errors = { in_body: [{ path: 'code', ok: ['0'] }], codes: { account: ['1002'] } };
  const read = {
    path: '/videos/{variant}/{id}',
    state: 'state',
    states: { succeeded: ['done'], failed: ['failed'] },
  };
  const probed = () => {
    const submit = { path: '/v', id: 'id', variant: 'text', body: { prompt: '{{prompt}}' } };
    return vendorPorts({ errors, read, submit }).probe.probe(CONTEXT);
  };

  it.each([
    [200, { code: 0 }],
    [200, { code: 4711, message: 'No such job' }],
    [404, { message: 'No such job' }],
  ])('takes %d %j as the answer of a vendor that is there', async (status, json) => {
    vendorAnswers(json, status);
    await expect(probed()).resolves.toMatchObject({ models: null });
    expect(vendor.only.url).toMatch(/^\/v1\/videos\/text\/[0-]+$/);
  });

  it.each([
    [200, { code: 1002 }, 'account'],
    [401, {}, 'account'],
    [503, {}, 'unavailable'],
  ])('takes %d %j as %s', async (status, json, kind) => {
    vendorAnswers(json, status);
    await expect(probed()).rejects.toMatchObject({ kind });
  });
});

describe('the key of a vendor', () => {
  it('of two parts signs a token that lives for half an hour', async () => {
    vendorAnswers({ code: 0, data: { task_id: 'k1' } });
    const submit = {
      path: '/v1/videos/text2video',
      body: { prompt: '{{prompt}}' },
      id: 'data.task_id',
    };
    expect(await vendorPort({ auth: { in: 'jwt' }, submit }).submitVideo(SEA, CONTEXT)).toBe('k1');
    const token = vendor.only.headers.authorization?.replace('Bearer ', '') ?? '';
    const [head = '', claims = '', signature] = token.split('.');
    const hmac = createHmac('sha256', 'secret-of-a-vendor').update(`${head}.${claims}`);
    expect(signature).toBe(hmac.digest('base64url'));
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(read(head)).toEqual({ alg: 'HS256', typ: 'JWT' });
    const { iss, exp, nbf } = read(claims) as { iss: string; exp: number; nbf: number };
    expect([iss, exp - nbf]).toEqual(['access-1', 1_805]);
  });

  it('stands in the query where the file says so', async () => {
    vendorAnswers({ id: '1' });
    await vendorPort({ auth: { in: 'query', name: 'key' } }).submitVideo(SEA, CONTEXT);
    expect(vendor.only.url).toBe(
      `/v1/generations/acme/ray-2?key=${encodeURIComponent(VENDOR_KEY)}`,
    );
    expect(vendor.only.headers).not.toHaveProperty('authorization');
  });
});
