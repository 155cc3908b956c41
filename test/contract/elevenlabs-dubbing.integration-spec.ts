import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../src/common/time/clock.js';
import { elevenLabsPorts } from '../../src/providers/elevenlabs/elevenlabs-ports.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import type { ProviderContext } from '../../src/providers/http/provider-context.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { DubbingPort } from '../../src/providers/ports/job.port.js';
import { sentForm } from './form-data.js';
import { describePortContract, describeRequest } from './port-contract.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';

const folder = mkdtempSync(join(tmpdir(), 'contract-'));
const source = randomBytes(200_000);
const media = {
  path: join(folder, 'source'),
  sizeBytes: source.length,
  filename: 'source.mp4',
  contentType: 'video/mp4',
};
writeFileSync(media.path, source);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const LIMIT = 1_000_000;
const ID = 'dub_Abc-123';
const required = { media, name: 'task_1', targetLanguage: 'fr', sourceLanguage: 'auto' };
const always = {
  name: 'task_1',
  target_lang: 'fr',
  watermark: 'false',
  dubbing_studio: 'false',
  mode: 'automatic',
};
const json = (value: object) => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});
const portOf = (access: ProviderContext): DubbingPort => elevenLabsPorts(access).dubbing!;

const expectForm = (fields: Record<string, string>) => async (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', '/v1/dubbing']);
  const form = await sentForm(request);
  expect(form.fields).toEqual(fields);
  const { bytes, ...file } = form.file!;
  expect({ ...file, isWhole: bytes.equals(source) }).toEqual({
    field: 'file',
    filename: media.filename,
    contentType: media.contentType,
    isWhole: true,
  });
};
const expectGet = (path: string) => (request: SeenRequest) => {
  expect([request.method, request.url, request.body.length]).toEqual(['GET', path, 0]);
};

describePortContract('ElevenLabs dubbing: submit, without watermark (DUB-40)', {
  run: (access, context) => portOf(access).submitDub(required, context),
  good: { ...json({ dubbing_id: ID, expected_duration_sec: 12 }), result: ID },
  expectRequest: expectForm({ ...always, source_lang: 'auto' }),
});

describeRequest('ElevenLabs dubbing: submit with every field', {
  run: (access, context) =>
    portOf(access).submitDub(
      {
        ...required,
        sourceLanguage: 'de',
        numSpeakers: 0,
        highestResolution: true,
        dropBackgroundAudio: false,
      },
      context,
    ),
  good: { ...json({ dubbing_id: ID }), result: ID },
  expectRequest: expectForm({
    ...always,
    source_lang: 'de',
    num_speakers: '0',
    highest_resolution: 'true',
    drop_background_audio: 'false',
  }),
});

const dubbed = {
  dubbing_id: ID,
  status: 'dubbed',
  source_language: 'en',
  target_languages: ['fr'],
  media_metadata: { content_type: 'video/mp4', duration: 61.2 },
};
describePortContract('ElevenLabs dubbing: read', {
  run: (access, context) => portOf(access).readDub(ID, context),
  good: {
    ...json(dubbed),
    result: {
      state: 'succeeded',
      sourceLanguage: 'en',
      contentType: 'video/mp4',
      durationSeconds: 61.2,
    },
  },
  expectRequest: expectGet(`/v1/dubbing/${ID}`),
});

describeRequest('ElevenLabs dubbing: open', {
  run: async (access, context) => {
    const { body, contentType } = await portOf(access).openDub(ID, 'fil', context);
    return { contentType, bytes: await readBounded(body, LIMIT) };
  },
  good: { type: 'audio/mpeg', body: source, result: { contentType: 'audio/mpeg', bytes: source } },
  expectRequest: expectGet(`/v1/dubbing/${ID}/audio/fil`),
});

describeRequest('ElevenLabs dubbing: remove', {
  run: (access, context) => portOf(access).removeDub(ID, context),
  good: { ...json({ status: 'ok' }), result: undefined },
  expectRequest: (request) => {
    expect([request.method, request.url]).toEqual(['DELETE', `/v1/dubbing/${ID}`]);
  },
});

describe('ElevenLabs dubbing', () => {
  let stub: StubUpstream;
  let transport: HttpTransport;
  let port: DubbingPort;
  const context = { upstreamModel: 'dubbing_v1', signal: new AbortController().signal };
  beforeAll(() => {
    transport = new HttpTransport(LIMIT);
  });
  beforeEach(async () => {
    stub = await StubUpstream.start();
    port = portOf({
      id: 'acme',
      baseUrl: stub.url,
      apiKey: 'k',
      transport,
      clock: new SystemClock(),
    });
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());

  const answers = (value: object | string, status = 200, type = 'application/json'): void => {
    stub.reply = (response) =>
      response
        .writeHead(status, { 'content-type': type })
        .end(typeof value === 'string' ? value : JSON.stringify(value));
  };
  const faultOf = async (call: Promise<unknown>): Promise<ProviderError> => {
    const error = await call.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderError);
    return error as ProviderError;
  };

  it.each(['queued', 'preparing', 'dubbing'])(
    'takes the state "%s" for pending',
    async (status) => {
      answers({ ...dubbed, status });
      expect(await port.readDub(ID, context)).toEqual({ state: 'pending', progress: null });
    },
  );

  it.each([
    ['awaiting_review', 'awaiting_review'],
    ['', '(empty)'],
  ])('takes the state "%s", which it does not know, for pending', async (status, unknownState) => {
    answers({ ...dubbed, status });
    const pending = { state: 'pending', progress: null, unknownState };
    expect(await port.readDub(ID, context)).toEqual(pending);
  });

  it('reports the words of a failure, which are for operators', async () => {
    answers({ ...dubbed, status: 'failed', error: 'the account of acme is empty' });
    expect(await port.readDub(ID, context)).toEqual({
      state: 'failed',
      failure: { code: null, message: 'the account of acme is empty', requestId: null },
    });
  });

  it('treats a dub that is reported as finished with an error as failed', async () => {
    answers({ ...dubbed, error: 'no speech was found' });
    expect(await port.readDub(ID, context)).toEqual({
      state: 'failed',
      failure: { code: null, message: 'no speech was found', requestId: null },
    });
    for (const error of [null, '', {}]) {
      answers({ ...dubbed, error });
      expect(await port.readDub(ID, context)).toMatchObject({ state: 'succeeded' });
    }
  });

  it('leaves out what the provider does not report, and treats "auto" as no language', async () => {
    answers({ status: 'dubbed', source_language: 'auto', media_metadata: null });
    const nothing = { sourceLanguage: null, contentType: null, durationSeconds: null };
    expect(await port.readDub(ID, context)).toEqual({ state: 'succeeded', ...nothing });
    answers({ status: 'dubbed', media_metadata: { content_type: 5, duration: '12' } });
    expect(await port.readDub(ID, context)).toEqual({ state: 'succeeded', ...nothing });
    const long = 'x'.repeat(400_000);
    const odd = { content_type: `video/${long}`, duration: -1 };
    answers({ status: 'dubbed', source_language: long, media_metadata: odd });
    expect(await port.readDub(ID, context)).toEqual({ state: 'succeeded', ...nothing });
  });

  it.each([{}, { status: 5 }, { dubbing_id: ID }])('cannot use %j as a state', async (value) => {
    answers(value);
    expect(await faultOf(port.readDub(ID, context))).toMatchObject({ kind: 'http_error' });
  });

  it.each([{}, { dubbing_id: '' }, { dubbing_id: '../v1/user' }, { dubbing_id: 7 }])(
    'cannot use %j as an accepted job',
    async (value) => {
      answers(value);
      expect(await faultOf(port.submitDub(required, context))).toMatchObject({
        kind: 'http_error',
        sent: true,
      });
    },
  );

  it('distinguishes a missing dub, an unfinished dub and an HTML page', async () => {
    answers({ detail: { status: 'dubbing_not_found' } }, 404);
    expect(await faultOf(port.openDub(ID, 'fr', context))).toMatchObject({ upstreamStatus: 404 });
    answers({ detail: { status: 'dubbing_not_dubbed' } }, 425);
    expect(await faultOf(port.openDub(ID, 'fr', context))).toMatchObject({ upstreamStatus: 425 });
    answers('<html>', 200, 'text/html; charset=utf-8');
    expect(await faultOf(port.openDub(ID, 'fr', context))).toMatchObject({ kind: 'http_error' });
  });

  it.each([
    ['JSON', '{"detail":"not ready yet"}'],
    ['a page', '<!DOCTYPE html><title>Busy</title>'],
    ['nothing', ''],
    ['less than any file has', 'ID3'],
  ])('does not take %s for a dub, whatever its type says', async (_what, text) => {
    answers(text, 200, 'audio/mpeg');
    expect(await faultOf(port.openDub(ID, 'fr', context))).toMatchObject({
      kind: 'http_error',
      upstreamStatus: 200,
      upstreamCode: 'no_media',
    });
  });
});
