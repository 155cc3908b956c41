import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { miniMaxPorts } from '../../src/providers/minimax/minimax-ports.js';
import type { AudioFormat } from '../../src/providers/ports/audio.port.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

/** The wire is that of `/v1/t2a_v2` with `stream` of MiniMax's public API reference. */
const MAX_BYTES = 1_000_000;
const OK = { status_code: 0, status_msg: '' };
const EXTRA = {
  audio_length: 1_000,
  audio_sample_rate: 24_000,
  audio_size: 48_000,
  bitrate: 128_000,
  word_count: 2,
  usage_characters: 26,
  audio_format: 'mp3',
  audio_channel: 1,
};
const eventOf = (fields: object) =>
  `data: ${JSON.stringify({ trace_id: '04ebe00ac0a8b1f7', base_resp: OK, ...fields })}\n\n`;
const pieceOf = (audio: Buffer) =>
  eventOf({ data: { audio: audio.toString('hex'), status: 1, ced: '' } });
const lastOf = (audio?: Buffer) =>
  eventOf({
    data: { ...(audio && { audio: audio.toString('hex') }), status: 2, ced: '' },
    extra_info: EXTRA,
  });
const samples = Buffer.alloc(48_000);
for (let at = 0; at < 24_000; at += 1)
  samples.writeInt16LE(Math.round(12_000 * Math.sin(at / 10)), 2 * at);
const spokenAs = (audio: Buffer) =>
  pieceOf(audio.subarray(0, 1_001)) + pieceOf(audio.subarray(1_001)) + lastOf();

const speaks = (format: AudioFormat): PortContract['run'] => {
  return async (access, context) => {
    const command = { text: 'Hé, you.', voiceId: 'English_Graceful_Lady', format, speed: 1.1 };
    const { body, providerRequestId } = await miniMaxPorts(access).speech!.speak(command, context);
    const bytes = await readBounded(body, MAX_BYTES);
    return { bytes: bytes.toString('latin1'), providerRequestId };
  };
};
const expectJson =
  (audioSetting: object): PortContract['expectRequest'] =>
  (request: SeenRequest) => {
    expect([request.method, request.url]).toEqual(['POST', '/v1/t2a_v2']);
    expect(request.headers.authorization).toBe('Bearer sk-upstream-secret-4711');
    expect(JSON.parse(request.body.toString())).toEqual({
      model: 'upstream-model',
      text: 'Hé, you.',
      stream: true,
      stream_options: { exclude_aggregated_audio: true },
      voice_setting: { voice_id: 'English_Graceful_Lady', speed: 1.1 },
      audio_setting: audioSetting,
    });
  };
const good = (audio: Buffer, wire = spokenAs(audio)) => ({
  type: 'text/event-stream; charset=utf-8',
  body: Buffer.from(wire),
  result: { bytes: audio.toString('latin1'), providerRequestId: null },
});
const raw = expectJson({ format: 'pcm', sample_rate: 24_000, channel: 1 });
const { mp3 } = AUDIO_SAMPLES;

describePortContract('MiniMax speech', {
  run: speaks('mp3'),
  good: good(mp3),
  expectRequest: expectJson({ format: 'mp3', sample_rate: 44_100, bitrate: 128_000, channel: 1 }),
});
describeRequest('MiniMax speech as PCM', {
  run: speaks('pcm'),
  good: good(samples),
  expectRequest: raw,
});
describeRequest('MiniMax speech as WAV', {
  run: async (access, context) => {
    const { bytes } = (await speaks('wav')(access, context)) as { bytes: string };
    const file = Buffer.from(bytes, 'latin1');
    return [
      file.toString('latin1', 0, 4),
      file.readUInt32LE(24),
      file.subarray(44).equals(samples),
    ];
  },
  good: { ...good(samples), result: ['RIFF', 24_000, true] },
  expectRequest: raw,
});

describe('the events of MiniMax', () => {
  let stub: StubUpstream;
  const transport = new HttpTransport(2_000);
  beforeEach(async () => {
    stub = await StubUpstream.start();
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());

  const ports = () =>
    miniMaxPorts({ id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock() });
  const figures: unknown[] = [];
  const speak = (wire: string | readonly string[], format: AudioFormat = 'mp3') => {
    stub.reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of [wire].flat()) response.write(piece);
      response.end();
    };
    figures.length = 0;
    const { signal } = new AbortController();
    const owner = { signal, accountId: 'a', onFigures: (told: unknown) => figures.push(told) };
    return ports().speech!.speak(
      { text: 'Hi.', voiceId: 'v', format },
      { upstreamModel: 'm', signal, owner },
    );
  };
  const whole = async (wire: string, format?: AudioFormat) =>
    readBounded((await speak(wire, format)).body, MAX_BYTES);

  it('are heard once, though the last one has the whole again', async () => {
    await expect(whole(pieceOf(mp3) + lastOf(mp3))).resolves.toEqual(mp3);
    expect(figures).toEqual([{ 'extra_info.usage_characters': 26 }]);
  });

  it('may be only one, which is the last', async () => {
    await expect(whole(lastOf(mp3))).resolves.toEqual(mp3);
  });

  it('may end behind the one that tells what the speech cost', async () => {
    const last = eventOf({ data: { status: 1 }, extra_info: EXTRA });
    await expect(whole(pieceOf(mp3) + last)).resolves.toEqual(mp3);
    const half = (piece: Buffer) =>
      eventOf({ data: { audio: piece.toString('hex'), status: 1 }, extra_info: EXTRA });
    const halves = half(mp3.subarray(0, 500)) + half(mp3.subarray(500));
    await expect(whole(halves + lastOf())).resolves.toEqual(mp3);
    await expect(whole(halves)).resolves.toEqual(mp3);
    const again = eventOf({ data: { audio: mp3.toString('hex') }, extra_info: EXTRA });
    await expect(whole(halves + again)).resolves.toEqual(mp3);
  });

  it.each<AudioFormat>(['wav', 'opus', 'pcm'])(
    'are no %s where they have something else',
    async (format) => {
      for (const audio of [mp3, Buffer.from('{"error":"rate limited"}'), Buffer.alloc(2)])
        await expect(speak(pieceOf(audio) + lastOf(), format)).rejects.toMatchObject({
          kind: 'http_error',
          upstreamCode: 'not_audio',
        });
    },
  );

  it('may repeat the whole in a last one that is too long to be read', async () => {
    const whole8 = 'ab'.repeat(4 * 1024 * 1024);
    const last = `data: {"data":{"audio":"${whole8}","status":2},"extra_info":{"usage_characters":8}}\n\n`;
    await expect(whole(pieceOf(mp3) + last)).resolves.toEqual(mp3);
    const refused = `data: {"data":{"audio":"${whole8}","status":2},"base_resp":{"status_code":1027,"status_msg":"x"}}\n\n`;
    const { body: kept } = await speak(pieceOf(mp3) + refused);
    await expect(readBounded(kept, MAX_BYTES)).rejects.toMatchObject({ kind: 'http_error' });
    const notLast = `data: {"data":{"audio":"${whole8}","status":1}}\n\n`;
    const { body } = await speak(pieceOf(mp3) + notLast + lastOf());
    await expect(readBounded(body, MAX_BYTES)).rejects.toMatchObject({ kind: 'http_error' });
  });

  it('may have another form of line end, comments and empty lines', async () => {
    const wire = `\uFEFF: hello\r\n\r\n${(pieceOf(mp3) + lastOf()).replaceAll('\n', '\r\n')}`;
    await expect(whole(wire)).resolves.toEqual(mp3);
  });

  it('with a million values are no speech', async () => {
    const values = `data: {"data":{"status":1,"x":[${'{},'.repeat(300_000)}{}]}}\n\n`;
    await expect(speak(values)).rejects.toMatchObject({ kind: 'http_error' });
  });

  it('are closed with the speech, though the next one never comes', async () => {
    stub.reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(pieceOf(mp3));
    };
    const { signal } = new AbortController();
    const { body } = await ports().speech!.speak(
      { text: 'Hi.', voiceId: 'v', format: 'mp3' },
      { upstreamModel: 'm', signal },
    );
    body.resume();
    setTimeout(() => body.destroy(), 50);
    const startedMs = Date.now();
    await stub.untilAborted();
    expect(Date.now() - startedMs).toBeLessThan(1_500);
  });

  it('are not asked for where Opus would be longer than can be made', async () => {
    const context = { upstreamModel: 'm', signal: new AbortController().signal };
    for (const text of ['长'.repeat(3_801), 'a<#99.99#>'.repeat(15)]) {
      const asked = ports().speech!.speak({ text, voiceId: 'v', format: 'opus' }, context);
      await expect(asked).rejects.toMatchObject({ kind: 'rejected', sent: false });
    }
    expect(stub.seen).toHaveLength(0);
  });

  it('may lack the break after the last one', async () => {
    await expect(whole((pieceOf(mp3) + lastOf()).trimEnd())).resolves.toEqual(mp3);
  });

  it.each<[string, number, string, object]>([
    ['a bad key', 1004, 'account', { safeToFailover: true }],
    ['an empty balance', 1008, 'account', { safeToFailover: true }],
    ['the rate', 1002, 'rate_limited', { safeToFailover: true }],
    ['a bad key of the other kind', 2049, 'account', {}],
    ['refused words', 1026, 'rejected', { safeToFailover: false }],
    ['a bad voice', 20132, 'rejected', {}],
    ['the model', 1000, 'http_error', { safeToFailover: false }],
  ])(
    'say with status 200 that %s (%d) is why there is no speech: %s',
    async (_why, code, kind, more) => {
      const error = { base_resp: { status_code: code, status_msg: 'no' } };
      await expect(speak(`\uFEFF\n ${JSON.stringify(error)}`)).rejects.toMatchObject({ kind });
      await expect(speak(JSON.stringify(error))).rejects.toMatchObject({ kind, ...more });
      await expect(speak(`data: ${JSON.stringify(error)}\n\n`)).rejects.toMatchObject({ kind });
    },
  );

  it.each([
    ['an end before the last one', pieceOf(mp3)],
    [
      'an error after the beginning',
      pieceOf(mp3) + eventOf({ base_resp: { status_code: 1000, status_msg: 'x' } }),
    ],
    ['an event that is no JSON', `${pieceOf(mp3)}data: {\n\n`],
    ['audio that is no hex', pieceOf(mp3) + eventOf({ data: { audio: 'xyz', status: 1 } })],
  ])('break the speech by %s', async (_what, wire) => {
    const { body } = await speak(wire);
    await expect(readBounded(body, MAX_BYTES)).rejects.toMatchObject({
      kind: 'http_error',
      sent: true,
    });
  });

  it('are no speech where they have none', async () => {
    await expect(speak(lastOf())).rejects.toMatchObject({ kind: 'http_error', sent: true });
  });

  it('end with the last one, though the connection stays open', async () => {
    stub.reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(pieceOf(mp3) + lastOf());
    };
    const { signal } = new AbortController();
    const { body } = await ports().speech!.speak(
      { text: 'Hi.', voiceId: 'v', format: 'mp3' },
      { upstreamModel: 'm', signal },
    );
    await expect(readBounded(body, MAX_BYTES)).resolves.toEqual(mp3);
    await stub.untilAborted();
  });

  it('are probed by the list of voices', async () => {
    const voices = [{ voice_id: 'Chinese_Female', voice_name: 'x', description: ['y'] }];
    const { signal } = new AbortController();
    stub.reply = (response) =>
      response.end(JSON.stringify({ system_voice: voices, base_resp: OK }));
    await expect(ports().probe.probe({ signal })).resolves.toMatchObject({ models: null });
    expect([stub.only.method, stub.only.url]).toEqual(['POST', '/v1/get_voice']);
    const refused = { base_resp: { status_code: 2049, status_msg: 'invalid api key' } };
    stub.reply = (response) => response.end(JSON.stringify(refused));
    await expect(ports().probe.probe({ signal })).rejects.toMatchObject({ kind: 'account' });
  });
});
