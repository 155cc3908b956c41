import { describe, expect, it } from '@jest/globals';
import type { VendorFile } from '../../../src/providers/async-json/vendor-file.js';
import {
  vendorAnswers,
  sentBody,
  CONTEXT,
  other,
  vendorPort,
  SEA,
  vendor,
  VENDOR_KEY,
} from './vendor-harness.js';

describe('a vendor with an id and a path', () => {
  it('gets the body of the template with the key, and tells the id', async () => {
    vendorAnswers({ id: '2f7a-b', state: 'queued' }, 201);
    expect(await vendorPort().submitVideo(SEA, CONTEXT)).toBe('2f7a-b');
    const { method, url, headers } = vendor.only;
    expect([method, url, headers.authorization]).toEqual([
      'POST',
      '/v1/generations/acme/ray-2',
      `Bearer ${VENDOR_KEY}`,
    ]);
    expect(sentBody(vendor.only)).toEqual({
      model: 'acme/ray-2',
      prompt: 'The sea',
      duration: '5s',
    });
  });

  it.each([
    [{ state: 'queued' }, { state: 'pending', progress: null }],
    [{ state: 'on a break' }, { state: 'pending', progress: null, unknownState: 'on a break' }],
    [{ state: 'COMPLETED' }, { state: 'pending', progress: null, unknownState: 'COMPLETED' }],
    [
      { state: 'failed', failure_reason: 'No credit' },
      { state: 'failed', failure: { code: null, message: 'No credit', requestId: null } },
    ],
    [
      { state: 'completed', assets: { video: 'https://cdn.test/a.mp4' } },
      { state: 'succeeded', progress: null },
    ],
  ])('that answers %j has its job in the state %j', async (json, report) => {
    vendorAnswers(json);
    expect(await vendorPort().readVideo('2f7a-b', CONTEXT)).toMatchObject(report);
    expect(vendor.only.url).toBe('/v1/generations/2f7a-b');
  });

  it('tells where the video is, which is fetched without the key', async () => {
    vendorAnswers({ state: 'completed', assets: { video: `${other.url}/a.mp4` } });
    expect(await vendorPort().openVideo('2f7a-b', CONTEXT)).toEqual({
      redirectUrl: `${other.url}/a.mp4`,
    });
    vendorAnswers({ state: 'completed', assets: { video: `${other.url}/a.mp4` } });
    const result = { url: ['assets.video'], with_key: true };
    expect(await vendorPort({ result }).openVideo('2f7a-b', CONTEXT)).toEqual({
      redirectUrl: `${other.url}/a.mp4`,
    });
    expect(other.seen).toEqual([]);
  });

  it.each<[string, object]>([
    ['that is finished without a URL', { state: 'completed', assets: {} }],
    ['whose URL is none', { state: 'completed', assets: { video: 'javascript:1' } }],
    [
      'whose URL is longer than 2,048 characters',
      { state: 'completed', assets: { video: `https://cdn.test/${'a'.repeat(2_048)}` } },
    ],
  ])('cannot read an answer %s', async (_what, json) => {
    vendorAnswers(json);
    expect(await vendorPort().readVideo('2f7a-b', CONTEXT)).toEqual({ state: 'unreadable' });
  });

  it('is sent nothing where its body leaves out what the caller chose', async () => {
    const choices = [
      { size: '1280x720' },
      { aspectRatio: '16:9' },
      { resolution: '720p' },
      { audio: false },
      { firstFrameUrl: 'https://img.test/a.png' },
      { lastFrameUrl: 'https://img.test/a.png' },
      { imageUrls: ['https://img.test/a.png'] },
    ];
    for (const choice of choices) {
      const submitting = vendorPort().submitVideo({ ...SEA, ...choice }, CONTEXT);
      await expect(submitting).rejects.toMatchObject({ kind: 'rejected', sent: false });
    }
    expect(vendor.seen).toEqual([]);
  });

  it('is sent nothing where a text of two fields lacks one of them', async () => {
    const body = { prompt: '{{prompt}}', mode: '{{resolution}}-{{aspect_ratio}}' };
    const port = vendorPort({ submit: { path: '/v', id: 'id', body } });
    const submitting = port.submitVideo({ ...SEA, resolution: '720p' }, CONTEXT);
    await expect(submitting).rejects.toMatchObject({ kind: 'rejected', sent: false });
    expect(vendor.seen).toEqual([]);
  });

  it('with a number for an id that has lost digits has no job', async () => {
    vendor.reply = (response) => response.end('{"id":1234567890123456789}');
    await expect(vendorPort().submitVideo(SEA, CONTEXT)).rejects.toMatchObject({
      kind: 'http_error',
    });
  });

  it.each([[{}], [[]], [0], [' '], [null], [false]])(
    'has finished a job whose error is %j',
    async (error) => {
      const read = {
        ...{ path: '/jobs/{id}', state: 'state', states: { succeeded: ['done'] } },
        failed_if: 'error',
      };
      vendorAnswers({ state: 'done', error, assets: { video: 'https://cdn.test/a.mp4' } });
      expect(await vendorPort({ read }).readVideo('1', CONTEXT)).toMatchObject({
        state: 'succeeded',
      });
    },
  );

  it.each([
    [1, { kind: 'rate_limited' }],
    [2, { kind: 'account' }],
  ])('that blames the request with code %j says nothing of its job', async (code, error) => {
    const codes = { rate_limited: ['1'], account: ['2'] };
    const errors = { in_body: [{ path: 'code', ok: ['0'] }], codes };
    vendorAnswers({ code, state: 'failed' });
    const reading = vendorPort({ errors }).readVideo('2f7a-b', CONTEXT);
    await expect(reading).rejects.toMatchObject(error);
  });

  it('gets the body of the first variant that fits, which its job remembers', async () => {
    const submit = {
      ...{ id: 'id', variant: 'text', path: '/text', body: { prompt: '{{prompt}}' } },
      variants: [
        { variant: 'other', models: ['acme/other*'], has: ['audio' as const], path: '/other' },
        {
          ...{ variant: 'image', has: ['first_frame_url' as const] },
          body: { prompt: '{{prompt}}', image: '{{first_frame_url}}' },
        },
      ],
    };
    const port = vendorPort({
      submit,
      read: {
        path: '/jobs/{variant}/{id}',
        state: 'state',
        states: { succeeded: ['done'], failed: ['failed'] },
      },
    });
    vendorAnswers({ id: '7:8' });
    expect(await port.submitVideo(SEA, CONTEXT)).toBe('text:7:8');
    const framed = { ...SEA, firstFrameUrl: 'https://img.test/a.png' };
    expect(await port.submitVideo(framed, CONTEXT)).toBe('image:7:8');
    expect(vendor.seen.map((seen) => [seen.url, sentBody(seen)])).toEqual([
      ['/v1/text', { prompt: 'The sea' }],
      ['/v1/text', { prompt: 'The sea', image: 'https://img.test/a.png' }],
    ]);
    vendorAnswers({ state: 'pondering' });
    await port.readVideo('image:7:8', CONTEXT);
    expect(vendor.seen.at(-1)?.url).toBe('/v1/jobs/image/7%3A8');
  });

  it('sends an image inline, and nothing where it cannot be fetched', async () => {
    const submit = {
      path: '/v',
      id: 'id',
      body: { prompt: '{{prompt}}', image: { $inline: 'first_frame_url', as: 'data_url' } },
    };
    other.reply = (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('PNG');
    vendorAnswers({ id: '1' });
    const command = { ...SEA, firstFrameUrl: `${other.url}/a.png` };
    await vendorPort({ submit }).submitVideo(command, CONTEXT);
    expect(sentBody(vendor.only)).toEqual({
      prompt: 'The sea',
      image: 'data:image/png;base64,UE5H',
    });
    other.reply = (response) => response.writeHead(404).end();
    await expect(vendorPort({ submit }).submitVideo(command, CONTEXT)).rejects.toMatchObject({
      kind: 'rejected',
      sent: false,
    });
    expect(vendor.seen).toHaveLength(1);
  });
});

describe('a vendor that gives the URLs of its jobs', () => {
  const fal = (): Partial<VendorFile> => ({
    auth: { in: 'header', name: 'Authorization', prefix: 'Key ' },
    submit: { path: '/{model}', body: { prompt: '{{prompt}}' }, read_url: 'status_url' },
    read: {
      state: 'status',
      states: { queued: ['IN_QUEUE'], processing: ['IN_PROGRESS'], succeeded: ['COMPLETED'] },
      failed_if: 'error',
      failure_code: ['error_type'],
      failure_message: ['error'],
    },
    result: { request: { given: 'response_url' }, url: ['video.url'] },
    errors: { codes: { rejected: ['content_policy*'] }, code: ['detail.0.type'] },
  });

  it('is asked there, with the key, and for the result where its answer says', async () => {
    const port = vendorPort(fal());
    const job = `${vendor.url}/acme/requests/1`;
    vendor.reply = (response, { method, url }) => {
      const isStatus = method === 'POST' || url.endsWith('/status');
      const told = { status: 'COMPLETED', status_url: `${job}/status`, response_url: job };
      response.end(JSON.stringify(isStatus ? told : { video: { url: `${other.url}/a.mp4` } }));
    };
    const id = await port.submitVideo(SEA, CONTEXT);
    expect(id).toBe(`${job}/status`);
    expect(await port.readVideo(id, CONTEXT)).toMatchObject({ state: 'succeeded' });
    expect(await port.openVideo(id, CONTEXT)).toEqual({ redirectUrl: `${other.url}/a.mp4` });
    const keys = vendor.seen.map(({ headers }) => headers.authorization);
    expect(new Set(keys)).toEqual(new Set([`Key ${VENDOR_KEY}`]));
    expect(vendor.seen).toHaveLength(5);
  });

  it('is never asked at another origin', async () => {
    const port = vendorPort(fal());
    vendorAnswers({ status: 'IN_QUEUE', status_url: `${other.url}/1` });
    await expect(port.submitVideo(SEA, CONTEXT)).rejects.toMatchObject({ kind: 'http_error' });
    await expect(port.readVideo(`${other.url}/1`, CONTEXT)).rejects.toMatchObject({
      kind: 'http_error',
      upstreamCode: 'bad_url',
    });
    vendorAnswers({ status: 'COMPLETED', response_url: `${other.url}/1` });
    const reading = port.readVideo(`${vendor.url}/1/status`, CONTEXT);
    expect(await reading).toEqual({ state: 'unreadable' });
    expect(other.seen).toEqual([]);
  });

  it('is asked at an origin that the file lists', async () => {
    vendorAnswers({ status: 'IN_QUEUE', status_url: `${other.url}/1` });
    const port = vendorPort({ ...fal(), origins: [other.url] });
    const id = await port.submitVideo(SEA, CONTEXT);
    other.reply = (response) => response.end('{"status":"IN_PROGRESS"}');
    expect(await port.readVideo(id, CONTEXT)).toEqual({ state: 'pending', progress: null });
    expect(other.only.headers.authorization).toBe(`Key ${VENDOR_KEY}`);
  });

  it('tells the refusal of a finished job with its state or with its result', async () => {
    const port = vendorPort(fal());
    vendorAnswers({ status: 'COMPLETED', error: 'Timed out', error_type: 'request_timeout' });
    const id = `${vendor.url}/1/status`;
    expect(await port.readVideo(id, CONTEXT)).toMatchObject({
      state: 'failed',
      failure: { code: 'request_timeout', message: 'Timed out' },
    });
    vendor.reply = (response, { url }) =>
      url.endsWith('/status')
        ? response.end(JSON.stringify({ status: 'COMPLETED', response_url: `${vendor.url}/1` }))
        : response
            .writeHead(422)
            .end(JSON.stringify({ detail: [{ type: 'content_policy_violation', msg: 'No' }] }));
    expect(await port.readVideo(id, CONTEXT)).toMatchObject({
      state: 'failed',
      failure: { code: 'content_policy_violation' },
    });
    // A result that is asked for too early.
    vendor.reply = (response, { url }) =>
      url.endsWith('/status')
        ? response.end(JSON.stringify({ status: 'COMPLETED', response_url: `${vendor.url}/1` }))
        : response.writeHead(400).end(JSON.stringify({ detail: 'Request is still in progress' }));
    expect(await port.readVideo(id, CONTEXT)).toEqual({ state: 'pending', progress: null });
  });
});
