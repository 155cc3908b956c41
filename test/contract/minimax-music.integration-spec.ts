import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { SystemClock } from '../../src/common/time/clock.js';
import { BoundedDownload } from '../../src/platform/http-client/bounded-download.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../../src/platform/http-client/ssrf-safe-dialer.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { miniMaxPorts } from '../../src/providers/minimax/minimax-ports.js';
import type { CompositionCommand } from '../../src/providers/ports/audio.port.js';
import { mp3File } from '../media/mp3-file.js';
import { riffChunk, wavFormat, wavOf } from '../media/wav-file.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

/** The wire is that of `/v1/music_generation` with `output_format` `url` of MiniMax's public API reference. */
const MAX_BYTES = 1_000_000;
const TRACE_ID = '04ede0ab069fb1ba8be5156a24b1e081';
const mp3 = await mp3File(1, { rateHz: 44_100, kbps: 128 });
/** A second of two channels, whose mean is `mean`. */
const stereo = Buffer.alloc(96_000);
const mean = Buffer.alloc(48_000);
for (let at = 0; at < 24_000; at += 1) {
  stereo.writeInt16LE(at % 1_000, 4 * at);
  stereo.writeInt16LE((at % 1_000) + 200, 4 * at + 2);
  mean.writeInt16LE((at % 1_000) + 100, 2 * at);
}
const wav = wavOf([wavFormat({ channels: 2, rateHz: 24_000 }), riffChunk('data', stereo)]);

/** Where the vendor's files lie: the only private address that may be reached. */
const files = await StubUpstream.start();
const { host, port } = new URL(files.url);
const SIGNED = '?Expires=1764400000&Signature=sIgNaTuRe';
const urlOf = (name: string) => `${files.url}/songs/${name}${SIGNED}`;
const rules = EgressRules.parse(host);
const download = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules });
const serve: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  mp3: (response) => response.end(mp3),
  wav: (response) => response.end(wav),
};
beforeEach(() => {
  files.seen.length = 0;
  files.reply = (response, { url }) =>
    serve[url.slice('/songs/'.length, -SIGNED.length)]!(response);
});
afterAll(() => files.stop());

const OK = { status_code: 0, status_msg: 'success' };
const answerOf = (audio: unknown, fields: object = {}) =>
  Buffer.from(
    JSON.stringify({
      data: { audio, status: 2 },
      trace_id: TRACE_ID,
      extra_info: { music_duration: 25_364, music_sample_rate: 44_100, music_channel: 2 },
      analysis_info: null,
      base_resp: OK,
      ...fields,
    }),
  );

const SONG = { prompt: 'A calm piano', durationSeconds: undefined } as const;
const composes =
  (command: Omit<CompositionCommand, 'prompt' | 'durationSeconds'>): PortContract['run'] =>
  async (access, context) => {
    const ports = miniMaxPorts({ ...access, download });
    const audio = await ports.composition!.compose({ ...SONG, ...command }, context);
    const bytes = await readBounded(audio.body, MAX_BYTES);
    return { bytes: bytes.toString('latin1'), providerRequestId: audio.providerRequestId };
  };
const expectJson =
  (fields: object): PortContract['expectRequest'] =>
  ({ method, url, headers, body }: SeenRequest) => {
    expect([method, url]).toEqual(['POST', '/v1/music_generation']);
    expect(headers.authorization).toBe('Bearer sk-upstream-secret-4711');
    const sent = { model: 'upstream-model', prompt: 'A calm piano', output_format: 'url' };
    expect(JSON.parse(body.toString())).toEqual({ ...sent, ...fields });
    expect(files.only.method).toBe('GET');
    expect(JSON.stringify(files.only.headers)).not.toContain('sk-upstream');
  };
const good = (name: string, bytes: Buffer) => ({
  type: 'application/json',
  body: answerOf(urlOf(name)),
  result: { bytes: bytes.toString('latin1'), providerRequestId: TRACE_ID },
});
const MP3 = { format: 'mp3', sample_rate: 44_100, bitrate: 128_000 };

describePortContract('MiniMax music', {
  run: composes({ format: 'mp3', lyrics: '[Verse]\nHello' }),
  good: good('mp3', mp3),
  expectRequest: expectJson({ lyrics: '[Verse]\nHello', audio_setting: MP3 }),
});
describeRequest('MiniMax music without lyrics, which the vendor writes', {
  run: composes({ format: 'mp3' }),
  good: good('mp3', mp3),
  expectRequest: expectJson({ lyrics_optimizer: true, audio_setting: MP3 }),
});
describeRequest('MiniMax music without singing', {
  run: composes({ format: 'mp3', instrumental: true }),
  good: good('mp3', mp3),
  expectRequest: expectJson({ is_instrumental: true, audio_setting: MP3 }),
});
describeRequest('MiniMax music as PCM, which is the mean of both channels', {
  run: composes({ format: 'pcm', instrumental: true }),
  good: good('wav', mean),
  expectRequest: expectJson({
    is_instrumental: true,
    audio_setting: { format: 'wav', sample_rate: 24_000 },
  }),
});

describe('a song of MiniMax', () => {
  let stub: StubUpstream;
  const transport = new HttpTransport(5_000);
  const figures: object[] = [];
  const made: object[] = [];
  beforeEach(async () => {
    stub = await StubUpstream.start();
    figures.length = 0;
    made.length = 0;
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());

  const compose = (
    body: Buffer,
    format: CompositionCommand['format'] = 'mp3',
    { signal } = new AbortController(),
  ) => {
    stub.reply = (response) => response.end(body);
    const owner = {
      signal,
      accountId: 'a',
      onFigures: (told: object) => figures.push(told),
      onMade: (told: object) => made.push(told),
    };
    const access = { id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock(), download };
    const context = { upstreamModel: 'm', signal, owner };
    return miniMaxPorts(access).composition!.compose({ ...SONG, format }, context);
  };
  /** The failure of a song, in whose words the address of its file is not. */
  const fault = async (...asked: Parameters<typeof compose>): Promise<Error> => {
    const error = await compose(...asked).then(
      () => new Error('did not fail'),
      (reason: unknown) => reason as Error,
    );
    const words = JSON.stringify(error) + String(error.stack) + error.message;
    expect(words).not.toMatch(/sIgNaTuRe|songs\/|127\.0\.0|169\.254/);
    expect(error.cause).toBeUndefined();
    return error;
  };

  it.each(['mp3', 'pcm', 'opus'] as const)('is measured here as %s', async (format) => {
    const { body } = await compose(answerOf(urlOf(format === 'mp3' ? 'mp3' : 'wav')), format);
    body.destroy();
    const [told] = figures as { measured_ms: number }[];
    expect(Math.abs(told!.measured_ms - 1_000)).toBeLessThan(60);
    expect(made).toEqual([{ unit: 'request', quantity: 1 }]);
  });

  it.each<[string, number, string]>([
    ['an empty balance', 1008, 'account'],
    ['the rate', 1002, 'rate_limited'],
    ['refused words', 1026, 'rejected'],
    ['bad parameters', 2013, 'rejected'],
    ['the model', 1000, 'http_error'],
  ])('is not there for %s (%d), which is told with status 200: %s', async (_why, code, kind) => {
    const base = { base_resp: { status_code: code, status_msg: 'no' } };
    expect(await fault(Buffer.from(JSON.stringify(base)))).toMatchObject({ kind });
    expect(await fault(answerOf(urlOf('mp3'), base))).toMatchObject({ kind });
    expect([files.seen.length, made]).toEqual([0, []]);
  });

  it.each<[string, object]>([
    ['has no URL', { data: { status: 2 } }],
    ['has an empty URL', { data: { audio: '', status: 2 } }],
    ['has no data', { data: null }],
    ['is the song itself, in hex', { data: { audio: 'ab'.repeat(100_000), status: 2 } }],
  ])('is not there where the answer %s', async (_what, fields) => {
    const expected = { kind: 'http_error', sent: true, upstreamCode: 'bad_json' };
    expect(await fault(answerOf(null, fields))).toMatchObject(expected);
    expect([files.seen.length, made]).toEqual([0, []]);
  });

  it.each<[string, string, string]>([
    ['another address of this machine', `http://127.0.0.2:${port}/songs/mp3`, 'file_url_refused'],
    ['an address of the cloud', 'http://169.254.169.254/songs/mp3', 'file_url_refused'],
    ['no web address', 'file:///songs/mp3', 'file_url_refused'],
    ['hex', 'fffb90c4', 'file_url_refused'],
    ['a file that is gone', urlOf('gone'), 'file_not_fetched'],
    ['a redirect to another address', urlOf('moved'), 'file_not_fetched'],
    ['an empty file', urlOf('empty'), 'file_not_fetched'],
    ['a file that breaks off', urlOf('cut'), 'file_not_fetched'],
    ['a file that is too large', urlOf('large'), 'file_too_large'],
    ['a page', urlOf('page'), 'not_audio'],
    ['another format', urlOf('wav'), 'not_audio'],
  ])('is lost, with its cost, where its URL leads to %s', async (_what, url, upstreamCode) => {
    const odd: typeof serve = {
      ...serve,
      gone: (response) => response.writeHead(404).end(),
      moved: (response) =>
        response.writeHead(302, { location: `http://127.0.0.2:${port}/songs/mp3` }).end(),
      empty: (response) => response.end(),
      cut: (response) => {
        response.writeHead(200, { 'content-length': mp3.length });
        response.write(mp3.subarray(0, 1_000), () => response.destroy());
      },
      large: (response) => response.writeHead(200, { 'content-length': 17 * 1024 * 1024 }).end(),
      page: (response) => response.setHeader('content-type', 'text/html').end('<p>Expired</p>'),
    };
    files.reply = (response, seen) =>
      odd[seen.url.slice('/songs/'.length, -SIGNED.length)]!(response);
    const expected = { kind: 'http_error', sent: true, safeToFailover: false };
    const error = await fault(answerOf(url));
    expect(error).toMatchObject({ ...expected, upstreamCode, providerRequestId: TRACE_ID });
    expect(made).toEqual([{ unit: 'request', quantity: 1 }]);
    expect(figures).toEqual([]);
  });

  const mono8 = wavOf([wavFormat({ rateHz: 24_000, bits: 8 }), riffChunk('data', stereo)]);
  const slow = wavOf([wavFormat({ rateHz: 16_000 }), riffChunk('data', stereo)]);
  it.each<[string, Buffer]>([
    ['is no WAV', mp3],
    ['has samples of 8 bits', mono8],
    ['has another rate', slow],
    ['has no samples', wavOf([wavFormat({ rateHz: 24_000 })])],
  ])('is lost as PCM and Opus where its file %s', async (_what, file) => {
    files.reply = (response) => response.end(file);
    for (const format of ['pcm', 'opus'] as const) {
      const error = await fault(answerOf(urlOf('wav')), format);
      expect(error).toMatchObject({ kind: 'http_error', sent: true, upstreamCode: 'not_audio' });
    }
  });

  it('is not fetched any further once its owner stops, with the reason of the owner', async () => {
    const controller = new AbortController();
    files.reply = (response) => {
      response.writeHead(200, { 'content-length': mp3.length }).write(mp3.subarray(0, 1_000));
      setTimeout(() => {
        controller.abort(new Error('client left'));
      }, 20);
    };
    await expect(compose(answerOf(urlOf('mp3')), 'mp3', controller)).rejects.toThrow('client left');
    await files.untilAborted();
  });
});
