import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FalQueue } from '../../contract/vendors/fal-queue.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { ImageDesk, imagesIn, PNG } from '../../support/image-desk.js';
import { overlay } from '../../support/overlay-file.js';
import { IMAGE_PATH } from '../../support/paid-images.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const PRICE = 30_000n;
const DEADLINE_MS = 4_000;
const KEYS = { FAL_KEY: 'key-of-fal-1', FAL_OTHER_KEY: 'key-of-fal-2' };
const SHIPPED = new URL('../../../vendors/fal-image.json', import.meta.url);
const file = JSON.parse(readFileSync(SHIPPED, 'utf8')) as object;
const model = (id: string, ...providers: string[]) => ({
  id,
  operation: 'image',
  routes: providers.map((provider) => ({ provider, upstream_model: 'fal-ai/flux/dev' })),
  limits: { sizes: ['1024x768'], max_n: 4 },
  price: { unit: 'request', micro_usd: Number(PRICE) },
});
const models = [model('img-flux', 'fal-image'), model('img-two', 'fal-image', 'fal-other')];

/** The width and the height in the head of a PNG file. */
const sidesOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];

describe('images of a vendor of a file', () => {
  let gateway: TestGateway;
  let vendor: StubUpstream;
  let second: StubUpstream;
  let pictures: StubUpstream;
  let queue: FalQueue;
  let other: FalQueue;
  /** The answer about the finished job, with so many images. */
  const made = (count: number, at = pictures.url) => {
    const urls = Array.from({ length: count }, (_, index) => ({ url: `${at}/${index}.png` }));
    return [200, { images: urls, seed: 7 }] as const;
  };

  beforeAll(async () => {
    vendor = await StubUpstream.start();
    second = await StubUpstream.start();
    pictures = await StubUpstream.start();
    pictures.reply = (response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
    const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
    const put = (id: string, url: string, key: string) => {
      const own = { ...file, id, base_url: url, key_env: key };
      writeFileSync(join(folder, `${id}.json`), JSON.stringify(own));
    };
    put('fal-image', vendor.url, 'FAL_KEY');
    put('fal-other', second.url, 'FAL_OTHER_KEY');
    Object.assign(process.env, KEYS);
    gateway = await startTestGateway({
      ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: overlay({ models }) },
      ...{ EGRESS_ALLOW: '127.0.0.1', TASK_TICK_MS: '50', CALL_DEADLINE_MS: String(DEADLINE_MS) },
    });
  });
  afterAll(async () => {
    for (const name of Object.keys(KEYS)) Reflect.deleteProperty(process.env, name);
    await gateway.expectCleanBooks();
    await gateway.stop();
    await Promise.all([vendor, second, pictures].map((stub) => stub.stop()));
  });
  beforeEach(() => {
    for (const { seen } of [vendor, second, pictures]) seen.length = 0;
    queue = new FalQueue(vendor);
    other = new FalQueue(second);
    queue.result = made(2);
    other.result = made(2);
  });

  const buy = async (fields: object = {}) => {
    const desk = await ImageDesk.open(gateway);
    return desk.buyImages({ model: 'img-flux', size: '1024x768', n: 2, ...fields });
  };

  it('are fetched without the key, sent as bytes, and charged once', async () => {
    const { answer, charged, execution } = await buy();
    expect(imagesIn(answer)).toEqual([PNG, PNG]);
    expect(charged).toBe(2n * PRICE);
    expect(execution).toMatchObject({ status: 'succeeded' });
    expect(pictures.seen.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      undefined,
    ]);
    expect(queue.submissions).toBe(1);
  });

  it.each([404, 500])('whose file is answered with %i are asked for again', async (status) => {
    const whole = pictures.reply;
    pictures.reply = (response) => {
      pictures.reply = whole;
      response.writeHead(status).end();
    };
    const { answer, charged } = await buy();
    expect(imagesIn(answer)).toEqual([PNG, PNG]);
    expect(charged).toBe(2n * PRICE);
    expect([pictures.seen.length, queue.submissions]).toEqual([3, 1]);
  });

  it('that came in part are charged in part', async () => {
    queue.result = made(1);
    const { answer, charged } = await buy({ n: 3 });
    expect(imagesIn(answer)).toEqual([PNG]);
    expect(charged).toBe(PRICE);
  });

  it('of a refused prompt are free, and the caller is told why', async () => {
    const detail = [{ loc: ['body', 'prompt'], msg: 'No', type: 'content_policy_violation' }];
    queue.accepted = [422, { detail }];
    const { answer, charged } = await buy();
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({
      code: 'provider_rejected_request',
      message: expect.stringContaining('content_policy_violation'),
    });
    expect(charged).toBe(0n);
  });

  it('are made on the next route where the first takes no more', async () => {
    queue.accepted = [429, { detail: 'Too many' }];
    const { answer, charged } = await buy({ model: 'img-two' });
    expect(imagesIn(answer)).toHaveLength(2);
    expect(charged).toBe(2n * PRICE);
    expect([queue.submissions, other.submissions]).toEqual([1, 1]);
  });

  it.each([
    ['whose submission is not answered', 'accepted'],
    ['whose job fails', 'statuses'],
  ] as const)('%s are free, and no other route is asked (G-116)', async (_what, at) => {
    if (at === 'accepted') queue.accepted = (response) => response.socket?.destroy();
    else queue.statuses = [[200, { status: 'COMPLETED', error: 'Oops', error_type: 'oops' }]];
    const { answer, charged } = await buy({ model: 'img-two' });
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
    expect(charged).toBe(0n);
    expect([queue.submissions, other.submissions]).toEqual([1, 0]);
  });

  it.each(['http://10.0.0.1', 'http://[::1]:9', 'ftp://127.0.0.1'])(
    'whose URLs lead to %s are none, and free',
    async (host) => {
      queue.result = made(2, host);
      const { answer, charged } = await buy({ model: 'img-two' });
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
      expect(charged).toBe(0n);
      expect([queue.submissions, other.submissions]).toEqual([1, 0]);
    },
    30_000,
  );

  it('that are not made before the deadline are free, and their job is stopped', async () => {
    queue.statuses = [queue.waiting];
    const { answer, charged } = await buy({ model: 'img-two' });
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_timeout']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(charged).toBe(0n);
    await queue.untilCancelled();
    expect([queue.submissions, other.submissions]).toEqual([1, 0]);
  }, 30_000);

  it('that are asked for as a task are made once, and charged at its end', async () => {
    const { account } = await ImageDesk.open(gateway);
    const headers = { ...account.headers, prefer: 'respond-async' };
    const body = { model: 'img-flux', prompt: 'The sea', n: 2 };
    const { status, json } = await postJson(`${gateway.url}${IMAGE_PATH}`, headers, body);
    expect(status).toBe(202);
    const { id } = json as { id: string };
    const waiting = { headers: { ...account.headers, prefer: 'wait=30' } };
    const task = await send(`${gateway.url}/v1/tasks/${id}`, waiting);
    expect(task.json).toMatchObject({ status: 'succeeded' });
    expect(await gateway.balance(account.accountId)).toMatchObject({
      ...{ available: 10_000_000n - 2n * PRICE, held: 0n },
    });
    const content = await send(`${gateway.url}/v1/tasks/${id}/content`, account);
    expect(imagesIn(content)).toEqual([PNG, PNG]);
    expect(queue.submissions).toBe(1);
  }, 30_000);
});

describe('images of a vendor of a file without its key', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ CATALOG_FILE: overlay({ models: models.slice(0, 1) }) });
  });
  afterAll(async () => {
    await gateway.expectCleanBooks();
    await gateway.stop();
  });

  const buy = async (prompt: string, fields: object = {}) => {
    const desk = await ImageDesk.open(gateway);
    const words = `${prompt} [[sandbox:task-ms=100]]`;
    return desk.buyImages({ model: 'img-flux', size: '1024x768', n: 2, prompt: words, ...fields });
  };

  it('are made by the sandbox, as many and as large as were asked for', async () => {
    const { answer, charged } = await buy('A lighthouse');
    const made = imagesIn(answer);
    expect(made.map(sidesOf)).toEqual([
      [1024, 768],
      [1024, 768],
    ]);
    expect(made[0]).not.toEqual(made[1]);
    expect(answer.headers.get('x-gateway-sandbox')).toBe('true');
    expect(charged).toBe(2n * PRICE);
  });

  it.each([
    ['[[sandbox:images=1]]', 200, 1],
    ['[[sandbox:poll=500]] [[sandbox:polls=1]]', 200, 2],
    ['[[sandbox:task-state=ODD]]', 200, 2],
    ['[[sandbox:task-fails]]', 502, 0],
    ['[[sandbox:task-fails]] [[sandbox:refuse]]', 400, 0],
    ['[[sandbox:status=429]]', 429, 0],
    ['[[sandbox:lost-answer]]', 502, 0],
    ['[[sandbox:file=500]] [[sandbox:files=1]]', 200, 2],
    ['[[sandbox:file=html]]', 502, 0],
  ])('obey %s: %i, and %i are charged', async (words, status, count) => {
    const { answer, charged } = await buy(`A lighthouse ${words}`);
    expect(answer.status).toBe(status);
    if (status === 200) expect(imagesIn(answer)).toHaveLength(count);
    expect(charged).toBe(BigInt(count) * PRICE);
  });

  it('obey no-result: nothing is charged', async () => {
    const { answer, charged } = await buy('A lighthouse [[sandbox:no-result]]');
    expect([answer.status, charged]).toEqual([502, 0n]);
  }, 30_000);
});
