import { beforeEach, describe, expect, it } from '@jest/globals';
import { loadVendors } from '../../../src/providers/async-json/vendor-files.js';
import type { VendorFile } from '../../../src/providers/async-json/vendor-file.js';
import { ProviderError } from '../../../src/providers/http/provider-error.js';
import type { UnchargedQuantity } from '../../../src/common/money/charge-basis.js';
import type {
  ImageCommand,
  ImagePort,
  ImageResult,
} from '../../../src/providers/ports/image.port.js';
import { FalQueue, type Said, LONG_WAIT } from './fal-queue.js';
import { sentBody, vendor, VENDOR_KEY, vendorPorts } from './vendor-harness.js';

const MODEL = 'fal-ai/flux/dev';
const FILE = 'https://cdn.test/';
const COMMAND: ImageCommand = { prompt: 'The sea', size: '1024x768', count: 2 };
/** What fal tells of an image beside its URL. */
const imageAt = (url: string) => ({ url, width: 1024, height: 768, content_type: 'image/jpeg' });
const images = (...names: string[]): Said => [
  200,
  {
    images: names.map((name) => imageAt(FILE + name)),
    ...{ timings: {}, seed: 7, has_nsfw_concepts: [false], prompt: 'The sea' },
  },
];
const urlsOf = ({ images: made }: ImageResult) => made.map((image) => 'url' in image && image.url);

let queue: FalQueue;
let stop: AbortController;
let made: UnchargedQuantity[];
beforeEach(() => {
  queue = new FalQueue(vendor);
  queue.result = images('1.png', '2.png');
  stop = new AbortController();
  made = [];
});

const shipped: Partial<VendorFile> = loadVendors(undefined).get('fal-image') ?? {};

/** The adapter of the shipped file, whose vendor is played here. */
function imagePort(file = shipped): ImagePort {
  const { image } = vendorPorts({ ...file, base_url: vendor.url });
  if (!image) throw new Error('no port');
  return image;
}

function generate(command: Partial<ImageCommand> = {}, file = shipped): Promise<ImageResult> {
  const { signal } = stop;
  const owner = {
    ...{ signal, accountId: null },
    onMade: (quantity: UnchargedQuantity) => made.push(quantity),
  };
  return imagePort(file).generateImage(
    { ...COMMAND, ...command },
    { upstreamModel: MODEL, terms: LONG_WAIT, signal, owner },
  );
}

/** The failure of a call. */
async function failure(command?: Partial<ImageCommand>): Promise<ProviderError> {
  const error: unknown = await generate(command).catch((thrown: unknown) => thrown);
  if (error instanceof ProviderError) return error;
  throw new Error('it did not fail', { cause: error });
}

describe('images of fal', () => {
  it('are asked for once, as its documents have it, and told by their URLs', async () => {
    expect(urlsOf(await generate({ outputFormat: 'jpeg' }))).toEqual([
      `${FILE}1.png`,
      `${FILE}2.png`,
    ]);
    const [submitted] = vendor.seen;
    expect(submitted).toMatchObject({
      url: `/${MODEL}`,
      headers: { authorization: `Key ${VENDOR_KEY}`, 'x-fal-no-retry': '1' },
    });
    expect(submitted && sentBody(submitted)).toEqual({
      prompt: 'The sea',
      num_images: 2,
      image_size: { width: 1024, height: 768 },
      output_format: 'jpeg',
    });
    expect(queue.asked).toEqual([`POST /${MODEL}`, 'GET /status', 'GET /status', 'GET ']);
    expect(made).toEqual([{ unit: 'image', quantity: 2 }]);
  });

  it('of no size that was named are of the size of the vendor', async () => {
    await generate({ size: undefined, count: undefined });
    expect(vendor.seen[0] && sentBody(vendor.seen[0])).toEqual({
      prompt: 'The sea',
      num_images: 1,
    });
  });

  it.each([
    ['more than were asked for are cut', 1, ['1.png', '2.png'], ['1.png']],
    ['fewer than were asked for are told', 3, ['1.png', '2.png'], ['1.png', '2.png']],
    ['of one URL are one', 2, ['1.png', '1.png'], ['1.png']],
  ])('%s', async (_what, count, names, told) => {
    queue.result = images(...names);
    expect(urlsOf(await generate({ count }))).toEqual(told.map((name) => FILE + name));
    expect(made).toEqual([{ unit: 'image', quantity: told.length }]);
  });

  it.each<[string, Partial<ImageCommand>]>([
    ['a quality', { quality: 'high' }],
    ['a background', { background: 'transparent' }],
    ['a compression', { outputFormat: 'jpeg', outputCompression: 50 }],
    ['a size that has no sides', { size: 'square' }],
  ])(
    'with %s, which the file does not send, are refused before anything is sent',
    async (_, asked) => {
      expect(await failure(asked)).toMatchObject({ kind: 'rejected', sent: false });
      expect(vendor.seen).toEqual([]);
    },
  );

  it('are not edited', async () => {
    const context = { upstreamModel: MODEL, signal: stop.signal };
    const editing = imagePort().editImage({ ...COMMAND, images: [] }, context);
    await expect(editing).rejects.toMatchObject({ kind: 'rejected', sent: false });
  });
});

describe('a submission to fal that fails', () => {
  it.each<[number, object, object]>([
    [
      422,
      { detail: [{ loc: ['body', 'prompt'], msg: 'No', type: 'content_policy_violation' }] },
      { kind: 'rejected', publicCode: 'content_policy_violation', safeToFailover: false },
    ],
    [429, { detail: 'Too many' }, { kind: 'rate_limited', safeToFailover: true }],
    [401, { detail: 'Invalid key' }, { kind: 'account', safeToFailover: true }],
    [
      403,
      { detail: 'User is locked. Reason: Exhausted balance' },
      { kind: 'account', safeToFailover: true },
    ],
    [500, { detail: 'Oops' }, { kind: 'http_error', safeToFailover: false }],
  ])('with %i %j is told so, and is not repeated', async (status, json, told) => {
    queue.accepted = [status, json];
    expect(await failure()).toMatchObject({ ...told, isPartial: false });
    expect(queue.asked).toHaveLength(1);
    expect(made).toEqual([]);
  });

  it('whose answer is lost is not repeated here nor elsewhere', async () => {
    queue.accepted = (response) => response.socket?.destroy();
    expect(await failure()).toMatchObject({ sent: true, isPartial: true, safeToFailover: false });
    expect(queue.submissions).toBe(1);
  });

  it.each<[string, Said]>([
    ['has no URL of the job', [200, { request_id: 'r1', status: 'IN_QUEUE' }]],
    [
      'has a URL of another host',
      [200, { request_id: 'r1', status_url: 'https://evil.test/status' }],
    ],
    ['is 2 MB', [200, { request_id: 'r'.repeat(2 * 1024 * 1024) }]],
  ])('whose answer %s is unusable, and nothing more is asked', async (_what, said) => {
    queue.accepted = said;
    expect(await failure()).toMatchObject({
      ...{ kind: 'http_error', isPartial: true, safeToFailover: false },
    });
    expect(queue.asked).toHaveLength(1);
  });
});

describe('a job of fal that was accepted', () => {
  it.each<[string, Said]>([
    ['500', [500, { detail: 'Oops' }]],
    ['429', [429, { detail: 'Too many' }]],
    ['no answer', (response) => response.socket?.destroy()],
    ['a state of its own', [202, { status: 'PAUSED' }]],
  ])('goes on after %s to a question for it', async (_what, said) => {
    queue.statuses = [queue.waiting, said, queue.done];
    expect(urlsOf(await generate())).toHaveLength(2);
    expect(queue.submissions).toBe(1);
  });

  it('is waited for where its result is not ready', async () => {
    queue.result = (response) => {
      queue.result = images('1.png');
      response.writeHead(400).end(JSON.stringify({ detail: 'Request is still in progress' }));
    };
    expect(urlsOf(await generate())).toEqual([`${FILE}1.png`]);
  });

  it('and fails is a failure of the provider, and nothing else is asked', async () => {
    const error = { error: 'Request timed out', error_type: 'request_timeout' };
    queue.statuses = [[200, { status: 'COMPLETED', request_id: 'r1', ...error, ...queue.urls }]];
    expect(await failure()).toMatchObject({
      ...{ kind: 'http_error', sent: true, upstreamCode: 'request_timeout' },
      ...{ isPartial: true, safeToFailover: false },
    });
    expect(queue.asked).toEqual([`POST /${MODEL}`, 'GET /status']);
    expect(made).toEqual([]);
  });

  it('and whose content is refused is told as that', async () => {
    queue.result = [
      422,
      { detail: [{ loc: ['body'], msg: 'No', type: 'content_policy_violation' }] },
    ];
    expect(await failure()).toMatchObject({
      ...{ kind: 'rejected', publicCode: 'content_policy_violation' },
      ...{ isPartial: true, safeToFailover: false },
    });
    expect(made).toEqual([]);
  });

  it.each<[string, Said]>([
    ['no images', [200, { images: [], seed: 7 }]],
    ['an image that is none', [200, { images: [{ url: 'file:///etc/passwd' }, 7] }]],
  ])(
    'and finishes with %s is asked for five times, then unusable',
    async (_what, said) => {
      queue.statuses = [queue.done];
      queue.result = said;
      expect(await failure()).toMatchObject({
        ...{ kind: 'http_error', upstreamCode: 'no_result', isPartial: true },
      });
      expect(queue.asked.filter((one) => one === 'GET ')).toHaveLength(5);
      // The vendor says that it has made them.
      expect(made).toEqual([{ unit: 'image', quantity: 2 }]);
    },
    30_000,
  );

  it('and whose answers are too large five times is given up, and stopped', async () => {
    queue.statuses = [
      queue.waiting,
      ...Array.from({ length: 5 }, (): Said => [200, { status: 'x'.repeat(2 * 1024 * 1024) }]),
      queue.waiting,
    ];
    expect(await failure()).toMatchObject({ kind: 'http_error', isPartial: true });
    await queue.untilCancelled();
    expect(made).toEqual([]);
  }, 30_000);

  it('and is not waited for any longer is stopped, once', async () => {
    queue.statuses = [
      queue.waiting,
      (response) => {
        stop.abort(new Error('the caller left'));
        response.end(JSON.stringify({ status: 'IN_PROGRESS' }));
      },
      queue.waiting,
    ];
    await expect(generate()).rejects.toThrow('the caller left');
    await queue.untilCancelled();
    expect(queue.asked.filter((one) => one.startsWith('PUT'))).toHaveLength(1);
    expect(queue.submissions).toBe(1);
    expect(made).toEqual([]);
  });

  it('and is not waited for any longer is left alone where the file says nothing', async () => {
    queue.statuses = [
      (response) => {
        stop.abort(new Error('the caller left'));
        response.end(JSON.stringify({ status: 'IN_PROGRESS' }));
      },
    ];
    const { cancel: _never, ...file } = shipped;
    await expect(generate({}, file)).rejects.toThrow('the caller left');
    expect(queue.asked).toEqual([`POST /${MODEL}`, 'GET /status']);
  });
});
