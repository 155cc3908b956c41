import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { BoundedDownload } from '../../src/platform/http-client/bounded-download.js';
import { SsrfSafeDialer } from '../../src/platform/http-client/ssrf-safe-dialer.js';
import { geminiVideoFaults } from '../../src/providers/gemini/gemini-video.adapter.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import type { UpstreamTerms } from '../../src/providers/ports/attempt.js';
import type { VideoCommand } from '../../src/providers/ports/job.port.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';
import { describePortContract, describeRequest } from './port-contract.js';

/** The wire is that of `predictLongRunning` (Veo) of Gemini's public API reference. */
const JOB = 'models/veo-3.1-generate-preview/operations/a1b2-c3';
const ID = 'veo-3.1-generate-preview:a1b2-c3';
const LIMIT = 1_024;
const FILE = Buffer.from('0000ftypisom-of-a-video');
const json = (value: object) => ({
  type: 'application/json; charset=UTF-8',
  body: Buffer.from(JSON.stringify(value)),
});
const finished = (uri: string) => ({
  name: JOB,
  done: true,
  response: {
    '@type': 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse',
    generateVideoResponse: { generatedSamples: [{ video: { uri } }] },
  },
});
const expectBody = (body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual([
    'POST',
    '/models/upstream-model:predictLongRunning',
  ]);
  expect(request.headers['x-goog-api-key']).toBe('sk-upstream-secret-4711');
  expect(JSON.parse(request.body.toString())).toEqual(body);
};
const expectGet = (path: string) => (request: SeenRequest) => {
  expect([request.method, request.url, request.body.length]).toEqual(['GET', path, 0]);
  expect(request.headers['x-goog-api-key']).toBe('sk-upstream-secret-4711');
};

describePortContract('Gemini videos: submit', {
  run: (access, context) =>
    geminiPorts(access).video!.submitVideo({ prompt: 'Hé', seconds: '8' }, context),
  good: { ...json({ name: JOB }), result: ID },
  expectRequest: expectBody({
    instances: [{ prompt: 'Hé' }],
    parameters: { durationSeconds: 8 },
  }),
});
describeRequest('Gemini videos: submit with a shape and a resolution', {
  run: (access, context) =>
    geminiPorts(access).video!.submitVideo(
      { prompt: 'Hé', seconds: '4', aspectRatio: '9:16', resolution: '1080p', audio: true },
      context,
    ),
  good: { ...json({ name: JOB }), result: ID },
  expectRequest: expectBody({
    instances: [{ prompt: 'Hé' }],
    parameters: { durationSeconds: 4, aspectRatio: '9:16', resolution: '1080p' },
  }),
});
describePortContract('Gemini videos: read', {
  run: (access, context) => geminiPorts(access).video!.readVideo(ID, context),
  good: { ...json({ name: JOB }), result: { state: 'pending', progress: null } },
  expectRequest: expectGet(`/${JOB}`),
});

describe('Gemini videos', () => {
  const transport = new HttpTransport(2_000);
  let stub: StubUpstream;
  const context = { upstreamModel: 'upstream-model', signal: new AbortController().signal };
  beforeEach(async () => {
    stub = await StubUpstream.start();
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());

  const port = () => {
    const rules = EgressRules.parse('127.0.0.1');
    const download = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules });
    const clock = new SystemClock();
    const access = {
      id: 'acme',
      baseUrl: `${stub.url}/v1beta`,
      apiKey: 'sk-key-4711',
      transport,
      clock,
      download,
    };
    return geminiPorts(access).video!;
  };
  const answer = (body: object): void => {
    stub.reply = (response) => response.end(JSON.stringify(body));
  };

  it.each<[string, object, object]>([
    ['a job that is at work', { name: JOB, metadata: { '@type': 'x' } }, { state: 'pending' }],
    ['a job that says it is not done', { name: JOB, done: false }, { state: 'pending' }],
    [
      'a finished job',
      finished('https://a.example/v1beta/files/f1:download?alt=media'),
      { state: 'succeeded' },
    ],
    [
      'a finished job without a file',
      { name: JOB, done: true, response: {} },
      { state: 'unreadable' },
    ],
    [
      'a failed job',
      { name: JOB, done: true, error: { code: 13, message: 'Internal.' } },
      { state: 'failed', failure: { code: '13', message: 'Internal.' } },
    ],
    [
      'a job whose video is kept back',
      {
        name: JOB,
        done: true,
        response: {
          generateVideoResponse: {
            raiMediaFilteredCount: 1,
            raiMediaFilteredReasons: ['We encountered an issue with your prompt.'],
          },
        },
      },
      { state: 'failed', failure: { code: 'media_filtered' } },
    ],
  ])('%s is reported', async (_what, body, report) => {
    answer(body);
    expect(await port().readVideo(ID, context)).toMatchObject(report);
  });

  it.each([
    ['no name', {}],
    ['a name that is no job', { name: 'operations/../../files/x' }],
    ['an error', { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no' } }],
  ])('an answer to the submission with %s is no job', async (_what, body) => {
    answer(body);
    await expect(port().submitVideo({ prompt: 'a', seconds: '8' }, context)).rejects.toMatchObject({
      sent: true,
    });
  });

  it('a file is fetched with the key below the base URL, whatever host the answer names', async () => {
    stub.reply = (response, { url }) =>
      url.includes('/operations/')
        ? response.end(
            JSON.stringify(
              finished('https://elsewhere.example/v1beta/files/f-1:download?alt=media'),
            ),
          )
        : response.writeHead(200, { 'content-type': 'video/mp4' }).end(FILE);
    const content = await port().openVideo(ID, context);
    expect('body' in content && (await readBounded(content.body, LIMIT))).toEqual(FILE);
    expect(stub.seen.at(-1)?.url).toBe('/v1beta/files/f-1:download?alt=media');
    expect(stub.seen.at(-1)?.headers['x-goog-api-key']).toBe('sk-key-4711');
  });

  it('a file elsewhere is left to those who fetch without the key', async () => {
    answer(finished('https://storage.example/a.mp4?signature=b'));
    expect(await port().openVideo(ID, context)).toEqual({
      redirectUrl: 'https://storage.example/a.mp4?signature=b',
    });
    expect(stub.seen).toHaveLength(1);
  });

  it('images are sent as bytes, in their places', async () => {
    const images = await StubUpstream.start();
    images.reply = (response, { url }) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(url);
    answer({ name: JOB });
    const at = (name: string) => `${images.url}/${name}`;
    const command = {
      ...{ prompt: 'a', seconds: '8', firstFrameUrl: at('first'), lastFrameUrl: at('last') },
      imageUrls: [at('one'), at('two')],
    };
    await port().submitVideo(command, context);
    await images.stop();
    const image = (name: string) => ({
      bytesBase64Encoded: Buffer.from(`/${name}`).toString('base64'),
      mimeType: 'image/png',
    });
    expect(JSON.parse(stub.only.body.toString())).toMatchObject({
      instances: [
        {
          prompt: 'a',
          image: image('first'),
          lastFrame: image('last'),
          referenceImages: ['one', 'two'].map((name) => ({
            image: image(name),
            referenceType: 'asset',
          })),
        },
      ],
    });
  });

  it.each<[string, Partial<VideoCommand>]>([
    ['a size', { size: '1280x720' }],
    ['no sound', { audio: false }],
    ['an image that cannot be fetched', { firstFrameUrl: 'http://127.0.0.1:1/a.png' }],
  ])('%s is refused before anything is sent', async (_what, fields) => {
    const command = { prompt: 'a', seconds: '8', ...fields };
    await expect(port().submitVideo(command, context)).rejects.toMatchObject({
      kind: 'rejected',
      sent: false,
    });
    expect(stub.seen).toHaveLength(0);
  });

  it('the terms of a row are for the parameters', async () => {
    answer({ name: JOB });
    const terms: UpstreamTerms = {
      constants: { personGeneration: 'allow_adult', resolution: '720p' },
      drop: ['aspectRatio'],
    };
    const command = { prompt: 'a', seconds: '6', aspectRatio: '16:9' };
    await port().submitVideo(command, { ...context, terms });
    expect(JSON.parse(stub.only.body.toString())).toEqual({
      instances: [{ prompt: 'a' }],
      parameters: { durationSeconds: 6, personGeneration: 'allow_adult', resolution: '720p' },
    });
  });

  it.each<[string, Parameters<typeof geminiVideoFaults>[0], string | undefined]>([
    ['resolutions and frames', { limits: {} }, undefined],
    [
      'a constant of its own',
      { limits: {}, terms: { constants: { resolution: '720p' } } },
      undefined,
    ],
    ['sizes', { limits: { sizePattern: 'x' } }, 'limits.size_pattern'],
    ['a choice of sound', { limits: { audio: true } }, 'limits.audio'],
    ['a dropped length', { limits: {}, terms: { drop: ['durationSeconds'] } }, 'durationSeconds'],
    ['a renamed resolution', { limits: {}, terms: { rename: { resolution: 'r' } } }, 'resolution'],
    [
      'a number of videos',
      { limits: {}, terms: { constants: { sampleCount: 4 } } },
      'constants.sampleCount',
    ],
  ])('a row with %s: %j: %s', (_what, row, field) => {
    expect(geminiVideoFaults(row)[0]?.split(':')[0]).toBe(field);
  });
});
