import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { miniMaxPorts } from '../../src/providers/minimax/minimax-ports.js';
import type { CompositionCommand } from '../../src/providers/ports/audio.port.js';
import { mp3File } from '../media/mp3-file.js';
import { riffChunk, wavFormat, wavOf } from '../media/wav-file.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

/** The wire is that of `/v1/music_generation` of MiniMax's public API reference. */
const MAX_BYTES = 1_000_000;
const mp3 = await mp3File(1, { rateHz: 44_100, kbps: 128 });
const OK = { status_code: 0, status_msg: 'success' };
const answerOf = (song: Buffer, fields: object = {}) =>
  Buffer.from(
    JSON.stringify({
      data: { audio: song.toString('hex'), status: 2 },
      trace_id: '04ede0ab069fb1ba8be5156a24b1e081',
      extra_info: { music_duration: 25_364, music_sample_rate: 44_100, music_channel: 2 },
      base_resp: OK,
      ...fields,
    }),
  );
/** A second of two channels, whose mean is `mean`. */
const stereo = Buffer.alloc(96_000);
const mean = Buffer.alloc(48_000);
for (let at = 0; at < 24_000; at += 1) {
  stereo.writeInt16LE(at % 1_000, 4 * at);
  stereo.writeInt16LE((at % 1_000) + 200, 4 * at + 2);
  mean.writeInt16LE((at % 1_000) + 100, 2 * at);
}
const wav = wavOf([wavFormat({ channels: 2, rateHz: 24_000 }), riffChunk('data', stereo)]);

const SONG = { prompt: 'A calm piano', durationSeconds: undefined } as const;
const composes =
  (command: Omit<CompositionCommand, 'prompt' | 'durationSeconds'>): PortContract['run'] =>
  async (access, context) => {
    const ports = miniMaxPorts(access);
    const audio = await ports.composition!.compose({ ...SONG, ...command }, context);
    const bytes = await readBounded(audio.body, MAX_BYTES);
    return { bytes: bytes.toString('latin1'), providerRequestId: audio.providerRequestId };
  };
const expectJson =
  (fields: object): PortContract['expectRequest'] =>
  ({ method, url, headers, body }: SeenRequest) => {
    expect([method, url]).toEqual(['POST', '/v1/music_generation']);
    expect(headers.authorization).toBe('Bearer sk-upstream-secret-4711');
    const sent = { model: 'upstream-model', prompt: 'A calm piano', output_format: 'hex' };
    expect(JSON.parse(body.toString())).toEqual({ ...sent, ...fields });
  };
const good = (song: Buffer, bytes = song) => ({
  type: 'application/json',
  body: answerOf(song),
  result: {
    bytes: bytes.toString('latin1'),
    providerRequestId: '04ede0ab069fb1ba8be5156a24b1e081',
  },
});
const MP3 = { format: 'mp3', sample_rate: 44_100, bitrate: 128_000 };

describePortContract('MiniMax music', {
  run: composes({ format: 'mp3', lyrics: '[Verse]\nHello' }),
  good: good(mp3),
  expectRequest: expectJson({ lyrics: '[Verse]\nHello', audio_setting: MP3 }),
});
describeRequest('MiniMax music without lyrics, which the vendor writes', {
  run: composes({ format: 'mp3' }),
  good: good(mp3),
  expectRequest: expectJson({ lyrics_optimizer: true, audio_setting: MP3 }),
});
describeRequest('MiniMax music without singing', {
  run: composes({ format: 'mp3', instrumental: true }),
  good: good(mp3),
  expectRequest: expectJson({ is_instrumental: true, audio_setting: MP3 }),
});
describeRequest('MiniMax music as PCM, which is the mean of both channels', {
  run: composes({ format: 'pcm', instrumental: true }),
  good: good(wav, mean),
  expectRequest: expectJson({
    is_instrumental: true,
    audio_setting: { format: 'wav', sample_rate: 24_000 },
  }),
});

describe('a song of MiniMax', () => {
  let stub: StubUpstream;
  const transport = new HttpTransport(5_000);
  const figures: object[] = [];
  beforeEach(async () => {
    stub = await StubUpstream.start();
    figures.length = 0;
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());

  const compose = (body: Buffer, format: CompositionCommand['format'] = 'mp3') => {
    stub.reply = (response) => response.end(body);
    const { signal } = new AbortController();
    const owner = { signal, accountId: 'a', onFigures: (told: object) => figures.push(told) };
    const access = { id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock() };
    const context = { upstreamModel: 'm', signal, owner };
    return miniMaxPorts(access).composition!.compose({ ...SONG, format }, context);
  };

  it('is measured here', async () => {
    await compose(answerOf(wav), 'pcm');
    expect(figures).toEqual([{ measured_ms: 1_000 }]);
  });

  it.each<[string, number, string]>([
    ['an empty balance', 1008, 'account'],
    ['the rate', 1002, 'rate_limited'],
    ['refused words', 1026, 'rejected'],
    ['bad parameters', 2013, 'rejected'],
    ['the model', 1000, 'http_error'],
  ])('is not there for %s (%d), which is told with status 200: %s', async (_why, code, kind) => {
    const base = { base_resp: { status_code: code, status_msg: 'no' } };
    await expect(compose(Buffer.from(JSON.stringify(base)))).rejects.toMatchObject({ kind });
    await expect(compose(answerOf(mp3, base))).rejects.toMatchObject({ kind });
  });

  const mono8 = wavOf([wavFormat({ rateHz: 24_000, bits: 8 }), riffChunk('data', stereo)]);
  const slow = wavOf([wavFormat({ rateHz: 16_000 }), riffChunk('data', stereo)]);
  it.each<[string, Buffer, CompositionCommand['format']]>([
    ['another format', answerOf(wav), 'mp3'],
    ['another format than WAV', answerOf(mp3), 'opus'],
    ['samples of 8 bits', answerOf(mono8), 'pcm'],
    ['another rate', answerOf(slow), 'pcm'],
    ['a text', answerOf(Buffer.from('{"error":"rate limited"}')), 'mp3'],
    ['nothing', answerOf(Buffer.alloc(0)), 'mp3'],
    ['no hex', answerOf(mp3, { data: { audio: 'xyz', status: 2 } }), 'mp3'],
    ['an address', answerOf(mp3, { data: { audio: 'https://a.example/x', status: 2 } }), 'mp3'],
  ])('is no song where it is %s', async (_what, body, format) => {
    await expect(compose(body, format)).rejects.toMatchObject({ kind: 'http_error', sent: true });
  });
});
