import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { miniMaxPorts } from '../../src/providers/minimax/minimax-ports.js';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import type { AudioFormat } from '../../src/providers/ports/audio.port.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import { describePortContract } from './port-contract.js';

/** The wires are those of `/v1/audio/speech` of OpenAI and of `/v1/t2a_v2` of MiniMax, whose public references have no dialogue. */
const MAX_BYTES = 16_000_000;
const samplesOf = (index: number) => Buffer.alloc(4_800 + 480 * index, Buffer.from([index, 16]));
const linesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ text: `Line ${at}.`, voiceId: `voice-${at % 2}` }));
const joinedOf = (count: number) =>
  Buffer.concat(Array.from({ length: count }, (_, at) => samplesOf(at)));

const eventsOf = (audio: Buffer) => {
  const base = { trace_id: '04ebe00a', base_resp: { status_code: 0, status_msg: '' } };
  const eventOf = (fields: object) => `data: ${JSON.stringify({ ...base, ...fields })}\n\n`;
  return (
    eventOf({ data: { audio: audio.toString('hex'), status: 1 } }) +
    eventOf({ data: { status: 2 }, extra_info: { usage_characters: 7 } })
  );
};
/** What the vendors are sent, and answer. */
const VENDORS = {
  OpenAI: {
    ports: openAiPorts,
    textOf: ({ input }: Sent) => input,
    written: (audio: Buffer): Buffer | string => audio,
    asked: (text: string, voice: string): object => {
      return { model: 'm', input: text, voice, response_format: 'pcm' };
    },
    refusal: [429, '{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'],
    figure: undefined,
  },
  MiniMax: {
    ports: miniMaxPorts,
    textOf: ({ text }: Sent) => text,
    written: (audio: Buffer): Buffer | string => eventsOf(audio),
    asked: (text: string, voice: string): object => ({
      model: 'm',
      text,
      stream: true,
      stream_options: { exclude_aggregated_audio: true },
      voice_setting: { voice_id: voice },
      audio_setting: { format: 'pcm', sample_rate: 24_000, channel: 1 },
    }),
    refusal: [200, '{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}'],
    figure: 'extra_info.usage_characters',
  },
} as const;
interface Sent {
  readonly input: string;
  readonly text: string;
}

describePortContract('OpenAI dialogue of one line', {
  run: async (access, context) => {
    const lines = [{ text: 'Hé, you.', voiceId: 'coral' }];
    const command = { lines, format: 'mp3' as const };
    const audio = await openAiPorts(access).dialogue!.speakDialogue(command, context);
    const { length } = await readBounded(audio.body, MAX_BYTES);
    return { bytes: length, providerRequestId: audio.providerRequestId };
  },
  good: {
    type: 'audio/mpeg',
    body: AUDIO_SAMPLES.mp3,
    result: { bytes: AUDIO_SAMPLES.mp3.length, providerRequestId: null },
  },
  expectRequest: ({ method, url, body }) => {
    expect([method, url]).toEqual(['POST', '/audio/speech']);
    const sent = { model: 'upstream-model', input: 'Hé, you.', voice: 'coral' };
    expect(JSON.parse(body.toString())).toEqual({ ...sent, response_format: 'mp3' });
  },
});

describe.each(Object.entries(VENDORS))('a dialogue at %s', (_name, vendor) => {
  let stub: StubUpstream;
  let stop: AbortController;
  const transport = new HttpTransport(5_000);
  const told: { figures: object[]; made: object[] } = { figures: [], made: [] };
  let running = 0;
  let most = 0;
  /** What a turn is answered with, and after how many milliseconds. */
  let turn: (index: number) => { body?: Buffer | string; status?: number; afterMs?: number };

  beforeEach(async () => {
    stub = await StubUpstream.start();
    stop = new AbortController();
    told.figures.length = 0;
    told.made.length = 0;
    running = 0;
    most = 0;
    turn = (index) => ({ body: vendor.written(samplesOf(index)) });
    stub.reply = async (response, { body }) => {
      const text = vendor.textOf(JSON.parse(body.toString()) as Sent);
      const index = Number(/\d+/.exec(text)?.[0]);
      running += 1;
      most = Math.max(most, running);
      response.on('close', () => (running -= 1));
      const answer = turn(index);
      if (answer.afterMs !== undefined) await sleep(answer.afterMs);
      if (answer.body !== undefined) response.writeHead(answer.status ?? 200).end(answer.body);
    };
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());

  const begin = (count: number, format: AudioFormat = 'pcm') => {
    const access = { id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock() };
    const owner = {
      signal: stop.signal,
      accountId: 'a',
      onFigures: (figures: object) => told.figures.push(figures),
      onMade: (made: object) => told.made.push(made),
    };
    return vendor
      .ports(access)
      .dialogue!.speakDialogue(
        { lines: linesOf(count), format },
        { upstreamModel: 'm', signal: stop.signal, owner },
      );
  };
  const speak = async (count: number, format?: AudioFormat) =>
    readBounded((await begin(count, format)).body, MAX_BYTES);

  it('is a request per line, whose samples follow each other in the order of the lines', async () => {
    turn = (index) => ({ body: vendor.written(samplesOf(index)), afterMs: (index % 3) * 40 });
    expect((await speak(9)).equals(joinedOf(9))).toBe(true);
    const sent = stub.seen.map(({ body }) => JSON.parse(body.toString()) as object);
    const wanted = linesOf(9).map(({ text, voiceId }) => vendor.asked(text, voiceId));
    expect(sent).toHaveLength(9);
    expect(sent).toEqual(expect.arrayContaining(wanted));
    expect(told.made.at(-1)).toEqual({ unit: 'code_point', quantity: 63 });
  });

  it('loses no sample to a turn that ends within one', async () => {
    const half = (index: number) => Buffer.concat([samplesOf(index), Buffer.from([99])]);
    turn = (index) => ({ body: vendor.written(half(index)) });
    expect((await speak(3)).equals(joinedOf(3))).toBe(true);
  });

  it('has as WAV the length of its turns in its head', async () => {
    const file = await speak(3, 'wav');
    expect([file.toString('latin1', 0, 4), file.readUInt32LE(24)]).toEqual(['RIFF', 24_000]);
    expect([file.readUInt32LE(4), file.readUInt32LE(40)]).toEqual([
      36 + joinedOf(3).length,
      joinedOf(3).length,
    ]);
    expect(file.subarray(44).equals(joinedOf(3))).toBe(true);
  });

  it('asks for four turns at once, and for none before the first has begun', async () => {
    turn = (index) => {
      if (index === 0) expect(stub.seen).toHaveLength(1);
      return { body: vendor.written(samplesOf(index)), afterMs: 50 };
    };
    await speak(12);
    expect(most).toBe(4);
  });

  it('tells the figures of all turns', async () => {
    await speak(2);
    const names = told.figures.flatMap((figures) => Object.keys(figures)).sort();
    const { figure } = vendor;
    expect(names).toEqual(figure === undefined ? [] : [`step1.${figure}`, `step2.${figure}`]);
  });

  it('fails with its first turn as speech does, and another route may serve', async () => {
    const [status, body] = vendor.refusal;
    turn = () => ({ status, body });
    await expect(begin(3)).rejects.toMatchObject({ kind: 'rate_limited', safeToFailover: true });
    expect([stub.seen.length, told.made]).toEqual([1, []]);
  });

  it('fails with a later turn, ends the others, and is not done again', async () => {
    const [status, body] = vendor.refusal;
    turn = (index) => {
      if (index < 2) return { body: vendor.written(samplesOf(index)) };
      return index === 2 ? { status, body, afterMs: 100 } : {};
    };
    await expect(begin(9)).rejects.toMatchObject({ kind: 'rate_limited', safeToFailover: false });
    // Line 0 and line 1 have seven characters each.
    expect(told.made.at(-1)).toEqual({ unit: 'code_point', quantity: 14 });
    expect(stub.seen.length).toBeLessThan(9);
    await stub.untilAborted();
  });

  it('fails with a turn that breaks off', async () => {
    const whole = vendor.written(samplesOf(1));
    const half = whole.slice(0, whole.length >> 1);
    turn = (index) => ({ body: vendor.written(samplesOf(index)), afterMs: 20 });
    const usual = stub.reply;
    stub.reply = (response, request) => {
      if (!request.body.includes('Line 1')) return usual(response, request);
      response.writeHead(200, { 'content-length': whole.length }).write(half);
      return setTimeout(() => response.destroy(), 20);
    };
    await expect(begin(3)).rejects.toMatchObject({ kind: 'http_error', isPartial: true });
  });

  it('ends all requests with its call', async () => {
    turn = (index) => (index === 0 ? { body: vendor.written(samplesOf(0)) } : {});
    const asked = begin(9);
    const failed = expect(asked).rejects.toThrow('client left');
    while (stub.seen.length < 5) await sleep(5);
    stop.abort(new Error('client left'));
    await failed;
    while (stub.aborted < 4) await sleep(5);
    expect([stub.seen.length, stub.aborted]).toEqual([5, 4]);
  });
});

it('a dialogue has no more than 23 minutes', async () => {
  const stub = await StubUpstream.start();
  const transport = new HttpTransport(10_000);
  const minutes = Buffer.alloc(12 * 60 * 48_000, Buffer.from([1, 16]));
  stub.reply = (response) => response.end(minutes);
  const access = { id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock() };
  const context = { upstreamModel: 'm', signal: new AbortController().signal };
  const command = { lines: linesOf(3), format: 'pcm' as const };
  const asked = openAiPorts(access).dialogue!.speakDialogue(command, context);
  await expect(asked).rejects.toMatchObject({ upstreamCode: 'audio_too_long' });
  await transport.close();
  await stub.stop();
});
