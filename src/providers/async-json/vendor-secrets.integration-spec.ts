import { describe, expect, it } from '@jest/globals';
import {
  CONTEXT,
  SEA,
  vendor,
  vendorAnswers,
  VENDOR_KEY,
  vendorPort,
} from '../../../test/contract/vendors/vendor-harness.js';
import type { VendorFile } from './vendor-file.js';

const [, SECRET = ''] = VENDOR_KEY.split(':');
const IN_QUERY = { in: 'query', name: 'key' } as const;
const WITH_KEY = { url: ['assets.video'], with_key: true };

/** What an error says of a vendor that quotes this of what it was sent. */
async function quoted(auth: VendorFile['auth'], quote: (sent: string) => string): Promise<string> {
  vendor.reply = (response, { headers, url }) => {
    const sent = auth.in === 'query' ? url : (headers.authorization ?? '');
    response.writeHead(400).end(JSON.stringify({ message: `No: ${quote(sent)}` }));
  };
  try {
    await vendorPort({ auth }).submitVideo(SEA, CONTEXT);
  } catch (error) {
    return (error as { upstreamMessage: string }).upstreamMessage;
  }
  throw new Error('no error');
}

describe('what a vendor quotes of its key', () => {
  const base64 = (text: string, form: BufferEncoding = 'base64') =>
    Buffer.from(text).toString(form);

  it.each<[string, VendorFile['auth'], (sent: string) => string, string]>([
    ['the signed token', { in: 'jwt' }, (sent) => sent, 'No: Bearer [redacted]'],
    ['the secret', { in: 'jwt' }, () => SECRET, 'No: [redacted]'],
    ['the key', { in: 'bearer' }, (sent) => sent, 'No: Bearer [redacted]'],
    ['base64', { in: 'bearer' }, () => base64(VENDOR_KEY), 'No: [redacted]'],
    ['base64 for URLs', { in: 'bearer' }, () => base64(VENDOR_KEY, 'base64url'), 'No: [redacted]'],
    ['basic', { in: 'bearer' }, () => `Basic ${base64(`${VENDOR_KEY}:`)}`, 'No: Basic [redacted]'],
    ['the query', IN_QUERY, (sent) => sent.replace(/.*\?/, ''), 'No: key=[redacted]'],
  ])('is not in the error: %s', async (_what, auth, quote, message) => {
    expect(await quoted(auth, quote)).toBe(message);
  });
});

describe('the file of a vendor whose key is in the query', () => {
  const open = (location: (key: string) => string) => {
    vendor.reply = (response, { url }) => {
      const [, key = ''] = /[?&]key=([^&]*)/.exec(url) ?? [];
      if (!url.startsWith('/a.mp4')) {
        response.end(
          JSON.stringify({ state: 'completed', assets: { video: `${vendor.url}/a.mp4` } }),
        );
      } else response.writeHead(302, { location: location(key) }).end();
    };
    return vendorPort({ auth: IN_QUERY, result: WITH_KEY }).openVideo('1', CONTEXT);
  };

  it('is redirected without the key, which the vendor passes on', async () => {
    const content = await open((key) => `https://cdn.test/a.mp4?key=${key}&part=1`);
    expect(content).toEqual({ redirectUrl: 'https://cdn.test/a.mp4?part=1' });
  });

  it('keeps a parameter of that name that is no key of ours', async () => {
    const content = await open(() => 'https://cdn.test/a.mp4?key=signed');
    expect(content).toEqual({ redirectUrl: 'https://cdn.test/a.mp4?key=signed' });
  });

  it('is not fetched where the key stands elsewhere in its URL', async () => {
    const opening = open((key) => `https://cdn.test/${key}/a.mp4`);
    await expect(opening).rejects.toMatchObject({ upstreamCode: 'bad_url' });
    vendorAnswers({ state: 'completed', assets: { video: `https://cdn.test/?k=${VENDOR_KEY}` } });
    const direct = vendorPort().openVideo('1', CONTEXT);
    await expect(direct).rejects.toMatchObject({ upstreamCode: 'bad_url' });
  });

  it('leaves no key in the URL of a job, which is kept', async () => {
    vendor.reply = (response, { url }) =>
      response.end(JSON.stringify({ status_url: `${vendor.url}${url}` }));
    const submit = { path: '/jobs', body: { p: '{{prompt}}' }, read_url: 'status_url' };
    const read = { state: 'state', states: { succeeded: ['done'], failed: ['failed'] } };
    const job = await vendorPort({ auth: IN_QUERY, submit, read }).submitVideo(SEA, CONTEXT);
    expect(job).toBe(`${vendor.url}/v1/jobs`);
  });
});

describe('a failed job of a vendor whose every answer has a message', () => {
  it('has none of its own where the vendor gives no reason', async () => {
    vendorAnswers({ code: 0, message: 'SUCCEED', data: { state: 'failed' } });
    const read = {
      path: '/jobs/{id}',
      state: 'data.state',
      states: { succeeded: ['done'], failed: ['failed'] },
      failure_message: ['data.reason'],
    };
    const errors = { in_body: [{ path: 'code', ok: ['0'] }] };
    expect(await vendorPort({ read, errors }).readVideo('1', CONTEXT)).toMatchObject({
      state: 'failed',
      failure: { code: null, message: null },
    });
  });
});
