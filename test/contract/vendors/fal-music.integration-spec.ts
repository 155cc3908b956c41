import { beforeEach, describe, expect, it } from '@jest/globals';
import type { UnchargedQuantity } from '../../../src/common/money/charge-basis.js';
import { loadVendors } from '../../../src/providers/async-json/vendor-files.js';
import { ProviderError } from '../../../src/providers/http/provider-error.js';
import { readBounded } from '../../../src/providers/http/response-body.js';
import type { CompositionCommand } from '../../../src/providers/ports/audio.port.js';
import { AUDIO_SAMPLES } from '../audio-samples.js';
import { FalQueue, type Said, LONG_WAIT } from './fal-queue.js';
import { other, sentBody, vendor, VENDOR_KEY, vendorPorts } from './vendor-harness.js';

const MODEL = 'acme/music';
const COMMAND: CompositionCommand = { prompt: 'The sea', durationSeconds: 20, format: 'mp3' };
const shipped = loadVendors(undefined).get('fal-music');

let queue: FalQueue;
let stop: AbortController;
let made: UnchargedQuantity[];
/** What fal tells of a track, under the name that a model gives it. */
const track = (name = 'audio', url = `${other.url}/a.mp3`): Said => [
  200,
  { [name]: { url, content_type: 'audio/mpeg', file_name: 'a.mp3', file_size: 9 }, seed: 7 },
];
beforeEach(() => {
  queue = new FalQueue(vendor);
  queue.result = track();
  other.reply = (response) => response.end(AUDIO_SAMPLES.mp3);
  stop = new AbortController();
  made = [];
});

/** Asks the adapter of the shipped file, whose vendor is played here, and reads the whole track. */
async function composed(command: Partial<CompositionCommand> = {}): Promise<Buffer> {
  const { composition } = vendorPorts({ ...shipped, base_url: vendor.url });
  if (!composition) throw new Error('no port');
  const { signal } = stop;
  const owner = {
    ...{ signal, accountId: null },
    onMade: (quantity: UnchargedQuantity) => made.push(quantity),
  };
  const context = { upstreamModel: MODEL, terms: LONG_WAIT, signal, owner };
  const { body } = await composition.compose({ ...COMMAND, ...command }, context);
  return readBounded(body, 1_000_000);
}

async function failure(command?: Partial<CompositionCommand>): Promise<ProviderError> {
  const error: unknown = await composed(command).catch((thrown: unknown) => thrown);
  if (error instanceof ProviderError) return error;
  throw new Error('it did not fail', { cause: error });
}

const LOST = { kind: 'http_error', sent: true, isPartial: true, safeToFailover: false };
const SECONDS = [{ unit: 'second', quantity: 20 }];

describe('music of fal', () => {
  it.each(['audio', 'audio_file'])(
    'is asked for once, and its track at %s is fetched without the key',
    async (name) => {
      queue.result = track(name);
      expect(await composed({ lyrics: 'Waves' })).toEqual(AUDIO_SAMPLES.mp3);
      const [submitted] = vendor.seen;
      expect(submitted?.headers.authorization).toBe(`Key ${VENDOR_KEY}`);
      expect(submitted && sentBody(submitted)).toEqual({
        prompt: 'The sea',
        lyrics: 'Waves',
        duration: 20,
      });
      expect(queue.submissions).toBe(1);
      expect(JSON.stringify(other.only.headers)).not.toContain(VENDOR_KEY);
      expect(made).toEqual(SECONDS);
    },
  );

  it.each<[Partial<CompositionCommand>, string]>([
    [{ format: 'pcm' }, 'response_format'],
    [{ instrumental: true }, 'instrumental'],
  ])('with %j, which is not sent, is refused by its field', async (asked, field) => {
    expect(await failure(asked)).toMatchObject({
      ...{ kind: 'rejected', sent: false, upstreamParam: field },
    });
    expect(vendor.seen).toEqual([]);
  });

  it('that need not be instrumental is asked for', async () => {
    expect(await composed({ instrumental: false })).toEqual(AUDIO_SAMPLES.mp3);
  });

  it('whose prompt is refused is told as that', async () => {
    const detail = [{ loc: ['body', 'prompt'], msg: 'No', type: 'content_policy_violation' }];
    queue.accepted = [422, { detail }];
    expect(await failure()).toMatchObject({
      ...{ kind: 'rejected', publicCode: 'content_policy_violation', isPartial: false },
    });
  });

  it('whose job fails is free of figures, and nothing else is asked', async () => {
    queue.statuses = [[200, { status: 'COMPLETED', error: 'Oops', error_type: 'oops' }]];
    expect(await failure()).toMatchObject({ ...LOST, upstreamCode: 'oops' });
    expect([made, other.seen]).toEqual([[], []]);
  });

  it.each<[string, () => Said]>([
    ['is at a private host', () => track('audio', 'http://10.0.0.1/a.mp3')],
    ['has no scheme of the web', () => track('audio', 'file:///etc/passwd')],
    ['is under another name', () => track('song')],
  ])(
    'whose track %s is lost',
    async (_what, said) => {
      queue.statuses = [queue.done];
      queue.result = said();
      expect(await failure()).toMatchObject(LOST);
      expect([made, other.seen]).toEqual([SECONDS, []]);
      expect(queue.submissions).toBe(1);
    },
    30_000,
  );

  it.each(['wav', 'opus'] as const)('whose track is %s is lost', async (format) => {
    other.reply = (response) => response.end(AUDIO_SAMPLES[format]);
    expect(await failure()).toMatchObject({ ...LOST, upstreamCode: 'not_audio' });
    expect(made).toEqual(SECONDS);
  });

  it('whose track breaks off is lost', async () => {
    other.reply = (response) => {
      response.writeHead(200, { 'content-length': '9000' });
      response.write(AUDIO_SAMPLES.mp3, () => response.socket?.destroy());
    };
    expect(await failure()).toMatchObject(LOST);
    expect(queue.submissions).toBe(1);
  });

  it('that is not waited for any longer is stopped', async () => {
    queue.statuses = [
      (response) => {
        stop.abort(new Error('the caller left'));
        response.end(JSON.stringify({ status: 'IN_PROGRESS' }));
      },
      queue.waiting,
    ];
    await expect(composed()).rejects.toThrow('the caller left');
    await queue.untilCancelled();
    expect(made).toEqual([]);
  });
});
