import { describe, expect, it } from '@jest/globals';
import type { VendorFile } from '../../../src/providers/async-json/vendor-file.js';
import { CONTEXT, other, vendor, VENDOR_KEY, vendorPort } from './vendor-harness.js';

const BEARER = `Bearer ${VENDOR_KEY}`;
const STOP = { cancel: { method: 'POST', path: '/generations/{id}/stop' } } as const;
const GIVEN = { cancel: { method: 'PUT', given: 'cancel_url' } } as const;
const REMOVAL = { delete: { method: 'DELETE', path: '/generations/{id}' } } as const;

/** The requests that the vendor got, each as its method and URL. */
const seen = (at = vendor): string[] => at.seen.map(({ method, url }) => `${method} ${url}`);
/** The vendor answers reads with this, and any other request with the status. */
function plays(read: object, status = 200, body = ''): void {
  vendor.reply = (response, { method }) =>
    method === 'GET' ? response.end(JSON.stringify(read)) : response.writeHead(status).end(body);
}

describe('a job that is cancelled at its vendor', () => {
  it.each([
    ['queued', 204],
    ['dreaming', 202],
  ])(
    'and is %s is asked for once, with the key, and any good status is enough',
    async (state, status) => {
      plays({ state }, status, '<html>');
      await vendorPort(STOP).cancelVideo?.('2f/7a', CONTEXT);
      expect(seen()).toEqual(['GET /v1/generations/2f%2F7a', 'POST /v1/generations/2f%2F7a/stop']);
      expect(vendor.seen.map(({ headers }) => headers.authorization)).toEqual([BEARER, BEARER]);
      expect(vendor.seen.at(-1)?.body).toHaveLength(0);
    },
  );

  it.each(['completed', 'failed', 'an unknown word'])('and is %s is left alone', async (state) => {
    plays({ state });
    await vendorPort(STOP).cancelVideo?.('1', CONTEXT);
    expect(seen()).toEqual(['GET /v1/generations/1']);
  });

  it.each([500, 429, 401])(
    'and cannot be read (%i) is left alone: it may be finished',
    async (status) => {
      vendor.reply = (response) => response.writeHead(status).end();
      const cancelling = vendorPort(STOP).cancelVideo?.('1', CONTEXT);
      await expect(cancelling).rejects.toMatchObject({ upstreamStatus: status });
      expect(seen()).toEqual(['GET /v1/generations/1']);
    },
  );

  it('is stopped at the URL that its answer gives, at our origins alone', async () => {
    plays({ state: 'queued', cancel_url: `${vendor.url}/queue/1/cancel?a=b` }, 202);
    await vendorPort(GIVEN).cancelVideo?.('1', CONTEXT);
    expect(seen().at(-1)).toBe('PUT /queue/1/cancel?a=b');
    expect(vendor.seen.at(-1)?.headers.authorization).toBe(BEARER);
    plays({ state: 'queued', cancel_url: `${other.url}/1/cancel` });
    await vendorPort({ ...GIVEN, origins: [other.url] }).cancelVideo?.('1', CONTEXT);
    expect(seen(other)).toEqual(['PUT /1/cancel']);
    expect(other.only.headers.authorization).toBe(BEARER);
  });

  it.each([
    ['of another origin', () => `${other.url}/1/cancel`],
    ['with credentials', () => vendor.url.replace('//', '//user:word@')],
    ['that is none', () => 'cancel'],
    ['that is a number', () => 7],
    ['that is absent', () => undefined],
  ])('is not stopped at a URL %s', async (_what, url) => {
    plays({ state: 'queued', cancel_url: url() });
    const cancelling = vendorPort(GIVEN).cancelVideo?.('1', CONTEXT);
    await expect(cancelling).rejects.toMatchObject({ kind: 'http_error', upstreamCode: 'bad_url' });
    expect([...seen(), ...seen(other)]).toEqual(['GET /v1/generations/1']);
  });

  it('is stopped under the path of its variant and model', async () => {
    const parts: Partial<VendorFile> = {
      submit: { path: '/jobs', variant: 'text', id: 'id', body: { prompt: '{{prompt}}' } },
      read: {
        path: '/{variant}/{id}',
        state: 'state',
        states: { queued: ['queued'], succeeded: ['done'], failed: ['failed'] },
      },
      cancel: { method: 'DELETE', path: '/{model}/{variant}/{id}' },
    };
    plays({ state: 'queued' });
    await vendorPort(parts).cancelVideo?.('text:7:8', CONTEXT);
    expect(seen()).toEqual(['GET /v1/text/7%3A8', 'DELETE /v1/acme/ray-2/text/7%3A8']);
  });

  it('is not stopped where a good answer says that the request failed', async () => {
    const errors = { in_body: [{ path: 'code', ok: ['0'] }] };
    const port = vendorPort({ ...STOP, errors });
    plays({ code: 0, state: 'queued' }, 200, '{"code":7}');
    await expect(port.cancelVideo?.('1', CONTEXT)).rejects.toMatchObject({ kind: 'http_error' });
    for (const [status, body] of [
      [200, '{"code":0}'],
      [200, 'stopped'],
      [204, ''],
    ] as const) {
      plays({ code: 0, state: 'queued' }, status, body);
      await port.cancelVideo?.('1', CONTEXT);
    }
  });

  it('is not followed to where the vendor redirects', async () => {
    vendor.reply = (response, { method }) =>
      method === 'GET'
        ? response.end('{"state":"queued"}')
        : response.writeHead(307, { location: `${other.url}/1` }).end();
    await expect(vendorPort(STOP).cancelVideo?.('1', CONTEXT)).rejects.toMatchObject({
      kind: 'http_error',
    });
    expect(other.seen).toEqual([]);
  });
});

describe('a job that is deleted at its vendor', () => {
  it('is asked for once, with the key', async () => {
    plays({}, 204);
    await vendorPort(REMOVAL).deleteVideo?.('2f7a', CONTEXT);
    expect(seen()).toEqual(['DELETE /v1/generations/2f7a']);
    expect(vendor.only.headers.authorization).toBe(BEARER);
  });

  it('and is gone tells that', async () => {
    plays({}, 404);
    await expect(vendorPort(REMOVAL).deleteVideo?.('1', CONTEXT)).rejects.toMatchObject({
      upstreamStatus: 404,
    });
  });
});

describe('a vendor whose file says nothing of it', () => {
  it('is not asked to cancel or to delete', async () => {
    const port = vendorPort();
    expect([port.canCancel, port.canDelete]).toEqual([false, false]);
    await expect(port.cancelVideo?.('1', CONTEXT)).rejects.toMatchObject({ sent: false });
    await expect(port.deleteVideo?.('1', CONTEXT)).rejects.toMatchObject({ sent: false });
    expect(vendor.seen).toEqual([]);
  });
});
