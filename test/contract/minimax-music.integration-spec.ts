import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { SystemClock } from '../../src/common/time/clock.js';
import { BoundedDownload } from '../../src/platform/http-client/bounded-download.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../../src/platform/http-client/ssrf-safe-dialer.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { miniMaxPorts } from '../../src/providers/minimax/minimax-ports.js';
import type { CompositionCommand } from '../../src/providers/ports/audio.port.js';
import { mp3File } from '../media/mp3-file.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

/** The wire is that of `/v1/music_generation` with `output_format` `url` of MiniMax's public API reference. */
const MAX_BYTES = 1_000_000;
const TRACE_ID = '04ede0ab069fb1ba8be5156a24b1e081';
const mp3 = await mp3File(1, { rateHz: 44_100, kbps: 128 });

/** Where the vendor's files lie: the only private address that may be reached. */
const files = await StubUpstream.start();
const songUrl = `${files.url}/songs/a.mp3?Expires=1764400000&Signature=sIgNaTuRe`;
const rules = EgressRules.parse(new URL(files.url).host);
const download = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules });
beforeEach(() => {
  files.seen.length = 0;
  files.reply = (response) => response.end(mp3);
});
afterAll(() => files.stop());

const answerOf = (data: unknown, fields: object = {}) =>
  Buffer.from(
    JSON.stringify({
      data,
      trace_id: TRACE_ID,
      extra_info: { music_duration: 25_364, music_sample_rate: 44_100, music_channel: 2 },
      analysis_info: null,
      base_resp: { status_code: 0, status_msg: 'success' },
      ...fields,
    }),
  );
type Reply = (response: ServerResponse) => unknown;
const ofProxy = (status: number): [string, number, Reply] => [
  `is that of a proxy, ${status}`,
  status,
  (it) => it.writeHead(status).end(),
];
const GOOD = answerOf({ audio: songUrl, status: 2 });
const coded = (response: ServerResponse, encoding: string, body: Buffer) =>
  response.writeHead(200, { 'content-encoding': encoding }).end(body);

const SONG = { prompt: 'A calm piano', durationSeconds: undefined, format: 'mp3' } as const;
const composes =
  (fields: Partial<CompositionCommand>): PortContract['run'] =>
  async (access, context) => {
    const ports = miniMaxPorts({ ...access, download });
    const audio = await ports.composition!.compose({ ...SONG, ...fields }, context);
    const bytes = await readBounded(audio.body, MAX_BYTES);
    return { bytes: bytes.toString('latin1'), providerRequestId: audio.providerRequestId };
  };
const expectJson =
  (fields: object): PortContract['expectRequest'] =>
  ({ method, url, headers, body }: SeenRequest) => {
    expect([method, url]).toEqual(['POST', '/v1/music_generation']);
    expect(headers.authorization).toBe('Bearer sk-upstream-secret-4711');
    expect(JSON.parse(body.toString())).toEqual({
      model: 'upstream-model',
      prompt: 'A calm piano',
      output_format: 'url',
      audio_setting: { format: 'mp3', sample_rate: 44_100, bitrate: 128_000 },
      ...fields,
    });
    expect(files.only.method).toBe('GET');
    expect(JSON.stringify(files.only.headers)).not.toContain('sk-upstream');
  };
const good = {
  type: 'application/json',
  body: GOOD,
  result: { bytes: mp3.toString('latin1'), providerRequestId: TRACE_ID },
};

describePortContract('MiniMax music', {
  run: composes({ lyrics: '[Verse]\nHello' }),
  good,
  expectRequest: expectJson({ lyrics: '[Verse]\nHello' }),
});
describeRequest('MiniMax music without lyrics, which the vendor writes', {
  run: composes({}),
  good,
  expectRequest: expectJson({ lyrics_optimizer: true }),
});
describeRequest('MiniMax music without singing', {
  run: composes({ instrumental: true }),
  good,
  expectRequest: expectJson({ is_instrumental: true }),
});

describe('a song of MiniMax', () => {
  let stub: StubUpstream;
  const transport = new HttpTransport(5_000);
  const made: object[] = [];
  beforeEach(async () => {
    stub = await StubUpstream.start();
    made.length = 0;
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());

  const compose = (body: Buffer, stopping?: AbortController) => {
    stub.reply = (response) => response.end(body);
    return asked(stopping);
  };
  const asked = ({ signal } = new AbortController()) => {
    const owner = { signal, accountId: 'a', onMade: (told: object) => made.push(told) };
    const access = { id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock(), download };
    const context = { upstreamModel: 'm', signal, owner };
    return miniMaxPorts(access).composition!.compose(SONG, context);
  };
  const fault = (body: Buffer) => faultOf((response) => response.end(body));
  const faultOf = async (reply: Reply): Promise<ProviderError> => {
    stub.reply = reply;
    const failed = asked().then(() => undefined);
    const error: unknown = await failed.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderError);
    return error as ProviderError;
  };

  it('is told as made once it is, before its file is asked for', async () => {
    files.reply = (response) => {
      expect(made).toHaveLength(1);
      response.end(mp3);
    };
    const { body } = await compose(GOOD);
    body.destroy();
    expect(made).toEqual([{ unit: 'request', quantity: 1 }]);
    expect(stub.seen).toHaveLength(1);
  });

  it.each<[string, number, string]>([
    ['an empty balance', 1008, 'account'],
    ['a bad key', 2049, 'account'],
    ['the rate', 1002, 'rate_limited'],
    ['refused words', 1026, 'rejected'],
    ['a refused song', 1027, 'rejected'],
    ['bad parameters', 2013, 'rejected'],
    ['the model', 1000, 'http_error'],
  ])('is not there for %s (%d), which is told with status 200: %s', async (_why, code, kind) => {
    const base = { base_resp: { status_code: code, status_msg: 'no' } };
    const refusals = [
      await fault(Buffer.from(JSON.stringify(base))),
      await fault(answerOf({ audio: songUrl, status: 2 }, base)),
    ];
    for (const error of refusals) expect(error).toMatchObject({ kind, isPartial: false });
    expect([files.seen.length, made]).toEqual([0, []]);
  });

  it.each<[string, unknown]>([
    ['no URL', { status: 2 }],
    ['an empty URL', { audio: '', status: 2 }],
    ['no data', null],
  ])('is made and lost where a good answer has %s', async (_what, data) => {
    const expected = { kind: 'http_error', upstreamCode: 'no_url', isPartial: true };
    expect(await fault(answerOf(data))).toMatchObject(expected);
    expect([files.seen.length, made]).toEqual([0, [{ unit: 'request', quantity: 1 }]]);
  });

  it.each<[string, Buffer]>([
    ['has the song itself, in hex', answerOf({ audio: 'ab'.repeat(100_000), status: 2 })],
    ['says that it is being made', answerOf({ status: 1 })],
    ['has neither a song nor a state', Buffer.from('{"data":{"status":2}}')],
    ['is none', Buffer.from('<html>')],
  ])('is not asked for again where the answer %s', async (_what, body) => {
    const error = await fault(body);
    expect(error).toMatchObject({ kind: 'http_error', upstreamCode: 'bad_json', isPartial: true });
    expect(error.toGatewayError().shouldRetry).toBe(false);
    expect(made).toEqual([]);
  });

  it.each<[string, number | undefined, Reply]>([
    ['is cut', undefined, (it) => it.writeHead(200, { 'content-length': 999 }).write('{"da')],
    ['is of an encoding that is unknown', 200, (it) => coded(it, 'zstd-x', GOOD)],
    ['is of another encoding than it says', 200, (it) => coded(it, 'gzip', GOOD)],
    ['is a part', 206, (it) => it.writeHead(206).end(GOOD)],
    ['is none', undefined, (it) => it.socket?.destroy()],
    ...[500, 502, 520, 522, 524].map(ofProxy),
  ])(
    'may be made, and is not asked for again, where the answer %s',
    async (_what, status, reply) => {
      const error = await faultOf((response) => {
        reply(response);
        if (!response.writableEnded) setTimeout(() => response.destroy(), 50);
      });
      expect(error).toMatchObject({ kind: 'http_error', upstreamStatus: status, isPartial: true });
      expect(error.toGatewayError().shouldRetry).toBe(false);
      expect(stub.seen).toHaveLength(1);
    },
  );

  it.each([400, 401, 429, 503])(
    'may be asked for again where it is refused with %d',
    async (status) => {
      const error = await faultOf((response) => response.writeHead(status).end());
      expect(error.isPartial).toBe(false);
    },
  );

  it('is lost, with its cost, where its file is none, and its words have no address', async () => {
    files.reply = (response) => response.end('<html>Expired</html>');
    const error = await fault(GOOD);
    const expected = { kind: 'http_error', upstreamCode: 'not_audio', isPartial: true };
    expect(error).toMatchObject({ ...expected, providerRequestId: TRACE_ID });
    expect(made).toEqual([{ unit: 'request', quantity: 1 }]);
    expect(JSON.stringify(error) + String(error.stack)).not.toMatch(/sIgNaTuRe|songs\//);
  });

  it('is not asked for where nothing can fetch it', async () => {
    const access = { id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock() };
    const context = { upstreamModel: 'm', signal: new AbortController().signal };
    const asked = miniMaxPorts(access).composition!.compose(SONG, context);
    await expect(asked).rejects.toThrow('fetched');
    expect(stub.seen).toHaveLength(0);
  });

  it('is not fetched any further once its owner stops, with the reason of the owner', async () => {
    const controller = new AbortController();
    files.reply = (response) =>
      response.writeHead(200, { 'content-length': mp3.length }).write(mp3.subarray(0, 1_000));
    const { body } = await compose(GOOD, controller);
    const read = expect(readBounded(body, MAX_BYTES)).rejects.toThrow('client left');
    controller.abort(new Error('client left'));
    await read;
    await files.untilAborted();
  });
});
