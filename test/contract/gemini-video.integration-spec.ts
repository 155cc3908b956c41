import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { geminiVideoFaults } from '../../src/providers/gemini/gemini-video.adapter.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import type { UpstreamTerms } from '../../src/providers/ports/attempt.js';
import type { VideoCommand } from '../../src/providers/ports/job.port.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';
import {
  finishedGeminiJob,
  GEMINI_JOB,
  GEMINI_JOB_ID,
  geminiVideosAt,
} from './gemini-video-desk.js';
import { describePortContract, describeRequest } from './port-contract.js';

const json = (value: object) => ({
  type: 'application/json; charset=UTF-8',
  body: Buffer.from(JSON.stringify(value)),
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
  good: { ...json({ name: GEMINI_JOB }), result: GEMINI_JOB_ID },
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
  good: { ...json({ name: GEMINI_JOB }), result: GEMINI_JOB_ID },
  expectRequest: expectBody({
    instances: [{ prompt: 'Hé' }],
    parameters: { durationSeconds: 4, aspectRatio: '9:16', resolution: '1080p' },
  }),
});
describePortContract('Gemini videos: read', {
  run: (access, context) => geminiPorts(access).video!.readVideo(GEMINI_JOB_ID, context),
  good: { ...json({ name: GEMINI_JOB }), result: { state: 'pending', progress: null } },
  expectRequest: expectGet(`/${GEMINI_JOB}`),
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

  const port = () => geminiVideosAt(stub.url, transport);
  const answer = (body: object): void => {
    stub.reply = (response) => response.end(JSON.stringify(body));
  };

  it.each<[string, object, object]>([
    [
      'a job that is at work',
      { name: GEMINI_JOB, metadata: { '@type': 'x' } },
      { state: 'pending' },
    ],
    ['a job that says it is not done', { name: GEMINI_JOB, done: false }, { state: 'pending' }],
    [
      'a finished job',
      finishedGeminiJob('https://a.example/v1beta/files/f1:download?alt=media'),
      { state: 'succeeded' },
    ],
    [
      'a finished job without a file',
      { name: GEMINI_JOB, done: true, response: {} },
      { state: 'unreadable' },
    ],
    [
      'a job with a file and an error',
      {
        ...finishedGeminiJob('https://a.example/v1beta/files/f1:download'),
        error: { code: 1, message: 'x' },
      },
      { state: 'succeeded' },
    ],
    [
      'a failed job',
      { name: GEMINI_JOB, done: true, error: { code: 13, message: 'Internal.' } },
      { state: 'failed', failure: { code: '13', message: 'Internal.' } },
    ],
    [
      'a job whose video is kept back',
      {
        name: GEMINI_JOB,
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
    expect(await port().readVideo(GEMINI_JOB_ID, context)).toMatchObject(report);
  });

  it.each([
    ['no name', {}],
    ['a name that is no job', { name: 'operations/../../files/x' }],
    ['a name that leads elsewhere', { name: 'models/../operations/x' }],
    ['an error', { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no' } }],
  ])('an answer to the submission with %s is no job', async (_what, body) => {
    answer(body);
    await expect(port().submitVideo({ prompt: 'a', seconds: '8' }, context)).rejects.toMatchObject({
      sent: true,
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

  it('a size and no sound are told beforehand as what it lacks', () => {
    const command = { prompt: 'a', seconds: '8' };
    expect(port().lacks?.({ ...command, size: '1280x720', audio: false }, context)).toEqual([
      'size',
      'audio',
    ]);
    expect(port().lacks?.({ ...command, audio: true }, context)).toEqual([]);
  });

  it('the terms of a row are for the parameters', async () => {
    answer({ name: GEMINI_JOB });
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
    ['four images', { limits: { maxImageUrls: 4 } }, 'limits.max_image_urls'],
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
