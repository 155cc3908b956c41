import { afterAll, beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import { openAiVideoPorts } from '../../src/providers/openai-video/openai-video-ports.js';
import type { VideoPort } from '../../src/providers/ports/job.port.js';
import { describePortContract, describeRequest } from './port-contract.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';

const LIMIT = 1024;
const FILE = Buffer.from('0000ftypisom-of-a-video');
const object = {
  id: 'video_abc-1',
  object: 'video',
  model: 'upstream-model',
  status: 'queued',
  progress: 0,
};
const json = (value: object) => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});
const expectGet = (path: string) => (request: SeenRequest) => {
  expect([request.method, request.url, request.body.length]).toEqual(['GET', path, 0]);
};
const expectBody = (body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', '/videos']);
  expect(request.headers['content-type']).toBe('application/json');
  expect(JSON.parse(request.body.toString())).toEqual(body);
};

describePortContract('OpenAI-style videos: submit', {
  run: (access, context) =>
    openAiVideoPorts(access).video!.submitVideo(
      { prompt: 'Hé', seconds: '10', size: '1280x720' },
      context,
    ),
  good: { ...json(object), result: 'video_abc-1' },
  expectRequest: expectBody({
    model: 'upstream-model',
    prompt: 'Hé',
    seconds: '10',
    size: '1280x720',
  }),
});

describeRequest('OpenAI-style videos: submit with an aspect ratio and images', {
  run: (access, context) =>
    openAiVideoPorts(access).video!.submitVideo(
      { prompt: 'a', seconds: '5', aspectRatio: '16:9', imageUrls: ['https://a.example/i.png'] },
      context,
    ),
  good: { ...json(object), result: 'video_abc-1' },
  expectRequest: expectBody({
    model: 'upstream-model',
    prompt: 'a',
    seconds: '5',
    aspect_ratio: '16:9',
    image_urls: ['https://a.example/i.png'],
  }),
});

describeRequest('OpenAI-style videos: submit with a resolution, sound and frames', {
  run: (access, context) =>
    openAiVideoPorts(access).video!.submitVideo(
      {
        prompt: 'a',
        seconds: '5',
        resolution: '720p',
        audio: false,
        firstFrameUrl: 'https://a.example/1.png',
        lastFrameUrl: 'https://a.example/2.png',
      },
      context,
    ),
  good: { ...json(object), result: 'video_abc-1' },
  expectRequest: expectBody({
    model: 'upstream-model',
    prompt: 'a',
    seconds: '5',
    resolution: '720p',
    audio: false,
    first_frame_url: 'https://a.example/1.png',
    last_frame_url: 'https://a.example/2.png',
  }),
});

describePortContract('OpenAI-style videos: read', {
  run: (access, context) => openAiVideoPorts(access).video!.readVideo('video_abc-1', context),
  good: {
    ...json({ ...object, status: 'in_progress', progress: 40 }),
    result: { state: 'pending', progress: 40 },
  },
  expectRequest: expectGet('/videos/video_abc-1'),
});

describeRequest('OpenAI-style videos: content', {
  run: async (access, context) => {
    const content = await openAiVideoPorts(access).video!.openVideo('video_abc-1', context);
    if (!('body' in content)) return content;
    return { type: content.contentType, bytes: await readBounded(content.body, LIMIT) };
  },
  good: { type: 'video/mp4', body: FILE, result: { type: 'video/mp4', bytes: FILE } },
  expectRequest: expectGet('/videos/video_abc-1/content'),
});

describe('OpenAI-style videos', () => {
  const transport = new HttpTransport(2_000);
  let stub: StubUpstream;
  let port: VideoPort;
  const context = { upstreamModel: 'upstream-model', signal: new AbortController().signal };
  beforeEach(async () => {
    stub = await StubUpstream.start();
    const baseUrl = `${stub.url}/v1`;
    const access = { id: 'acme', baseUrl, apiKey: 'sk', transport, clock: new SystemClock() };
    port = openAiVideoPorts(access).video!;
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());
  const answer = (body: object | string, status = 200, headers = {}): void => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    stub.reply = (response) => response.writeHead(status, headers).end(text);
  };
  const refusal = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );

  it.each([
    ['queued', { state: 'pending', progress: 7 }],
    ['in_progress', { state: 'pending', progress: 7 }],
    ['a word nobody knows', { state: 'pending', progress: 7, unknownState: 'a word nobody knows' }],
    ['completed', { state: 'succeeded', progress: 7 }],
    ['failed', { state: 'failed', failure: { code: null, message: null, requestId: null } }],
    [
      'cancelled',
      { state: 'failed', failure: { code: 'cancelled', message: null, requestId: null } },
    ],
  ])('a job that is %s is reported', async (status, report) => {
    answer({ ...object, status, progress: 7 });
    expect(await port.readVideo('v', context)).toEqual(report);
  });

  it.each<[unknown, object | undefined]>([
    [
      { code: 'moderation_blocked', message: 'no' },
      { code: 'moderation_blocked', message: 'no' },
    ],
    ['It broke.', { code: null, message: 'It broke.' }],
    [null, undefined],
    ['', undefined],
    [{}, undefined],
  ])(
    'a job that is completed with the error %j was made only if that is empty',
    async (error, failure) => {
      answer({ ...object, status: 'completed', progress: 100, error });
      const failed = failure && { state: 'failed', failure: { ...failure, requestId: null } };
      expect(await port.readVideo('v', context)).toEqual(
        failed ?? { state: 'succeeded', progress: 100 },
      );
    },
  );

  it('a job without progress has none', async () => {
    answer({ id: 'v', status: 'completed', progress: 'much' });
    expect(await port.readVideo('v', context)).toEqual({ state: 'succeeded', progress: null });
  });

  it.each([{}, { id: 5 }, { id: '' }, { id: '../jobs' }, { id: '..' }, { id: 'x'.repeat(201) }])(
    'a submission that answers %j is unusable: there is no job to ask after',
    async (video) => {
      answer(video);
      const error = await refusal(port.submitVideo({ prompt: 'a', seconds: '5' }, context));
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject({ kind: 'http_error', upstreamCode: 'bad_json', sent: true });
    },
  );

  it.each([
    ['https://files.example/a.mp4?sig=1', 'https://files.example/a.mp4?sig=1'],
    ['/elsewhere.mp4', 'here/elsewhere.mp4'],
  ])('a redirect to %s is handed over unfollowed', async (location, expected) => {
    answer('', 302, { location });
    const redirectUrl = expected.replace('here', stub.url);
    expect(await port.openVideo('v', context)).toEqual({ redirectUrl });
    expect(stub.seen).toHaveLength(1);
  });

  it.each([
    [302, {}, 'http_error'],
    [200, { 'content-type': 'text/html' }, 'http_error'],
    [200, { 'content-type': 'application/json' }, 'http_error'],
    [404, {}, 'misconfigured'],
    [410, {}, 'rejected'],
  ])('content answered %d %j is a failure', async (status, headers, kind) => {
    answer('gone', status, headers);
    expect(await refusal(port.openVideo('v', context))).toMatchObject({ kind });
  });
});
