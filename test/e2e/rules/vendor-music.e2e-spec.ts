import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FalQueue } from '../../contract/vendors/fal-queue.js';
import { mp3File } from '../../media/mp3-file.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const CREDIT = 10_000_000n;
const PER_SECOND = 1_000n;
const SHIPPED = new URL('../../../vendors/fal-music.json', import.meta.url);
const file = JSON.parse(readFileSync(SHIPPED, 'utf8')) as { submit: object };
const SONG = { unit: 'request', micro_usd: 200_000 };
const model = (id: string, price: object, ...providers: string[]) => ({
  ...{ id, operation: 'composition', price },
  routes: providers.map((provider) => ({ provider, upstream_model: 'acme/music' })),
});
const BY_SECOND = model(
  'aud-sea',
  { unit: 'requested_second', micro_usd: Number(PER_SECOND) },
  'fal-music',
);

/** Asks for music on a fresh account. Proves that nothing is left held. */
async function buy(gateway: GatewayOf, fields: object = {}) {
  const { accountId, headers } = await gateway.account(CREDIT);
  const body = { model: 'aud-sea', prompt: 'The sea', ...fields };
  const answer = await postJson(`${gateway.url}/v1/audio/music`, headers, body);
  const { available, held } = await gateway.balance(accountId);
  expect(held).toBe(0n);
  return { answer, charged: CREDIT - available };
}
type GatewayOf = Pick<TestGateway, 'url' | 'account' | 'balance'>;

describe('music of a vendor of a file', () => {
  let gateway: TestGateway;
  let vendor: StubUpstream;
  let tracks: StubUpstream;
  let queue: FalQueue;
  let mp3: Buffer;

  beforeAll(async () => {
    mp3 = await mp3File(2, { rateHz: 44_100, kbps: 128 });
    [vendor, tracks] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
    tracks.reply = (response) => response.end(mp3);
    const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
    const put = (own: { id: string; submit: object }) => {
      writeFileSync(
        join(folder, `${own.id}.json`),
        JSON.stringify({ ...own, base_url: vendor.url }),
      );
    };
    put({ ...file, id: 'fal-music' });
    const body = { prompt: '{{prompt}}', lyrics: '{{lyrics}}' };
    put({ ...file, id: 'fal-song', submit: { ...file.submit, body } });
    process.env.FAL_KEY = 'key-of-fal-1';
    const models = [BY_SECOND, model('aud-song', SONG, 'fal-song')];
    gateway = await startTestGateway({
      ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: overlay({ models }) },
      ...{ EGRESS_ALLOW: '127.0.0.1', CALL_DEADLINE_MS: '4000' },
    });
  });
  afterAll(async () => {
    delete process.env.FAL_KEY;
    await gateway.expectCleanBooks();
    await gateway.stop();
    await Promise.all([vendor.stop(), tracks.stop()]);
  });
  beforeEach(() => {
    vendor.seen.length = 0;
    queue = new FalQueue(vendor);
    queue.result = [200, { audio: { url: `${tracks.url}/a.mp3` } }];
  });

  it.each([
    [{ duration_seconds: 20, lyrics: 'Waves' }, 20n * PER_SECOND],
    [{}, 30n * PER_SECOND],
    [{ model: 'aud-song' }, 200_000n],
  ])('that %j asks for is streamed, and charged once', async (fields, price) => {
    const { answer, charged } = await buy(gateway, fields);
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
    expect(answer.bytes).toEqual(mp3);
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(charged).toBe(price);
    expect(queue.submissions).toBe(1);
  });

  it.each([
    [{ instrumental: true }, 'instrumental'],
    [{ response_format: 'pcm' }, 'response_format'],
    [{ model: 'aud-song', duration_seconds: 20 }, 'duration_seconds'],
  ])('with %j is refused by the field, free', async (fields, param) => {
    const { answer, charged } = await buy(gateway, fields);
    expect([answer.status, errorOf(answer).param]).toEqual([400, param]);
    expect([charged, vendor.seen]).toEqual([0n, []]);
  });

  it('whose track is none is free, and clients are told not to retry', async () => {
    queue.result = [200, { audio: { url: `${vendor.url}/a.mp3` } }];
    const { answer, charged } = await buy(gateway);
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
    expect(charged).toBe(0n);
    expect(queue.submissions).toBe(1);
  });

  it('that is not made before the deadline is free, and its job is stopped', async () => {
    queue.statuses = [queue.waiting];
    const { answer, charged } = await buy(gateway);
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_timeout']);
    expect(charged).toBe(0n);
    await queue.untilCancelled();
  }, 30_000);
});

describe('music of a vendor of a file without its key', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ CATALOG_FILE: overlay({ models: [BY_SECOND] }) });
  });
  afterAll(async () => {
    await gateway.expectCleanBooks();
    await gateway.stop();
  });

  it.each([
    ['', 200],
    ['[[sandbox:poll=500]] [[sandbox:polls=1]]', 200],
    ['[[sandbox:task-fails]]', 502],
    ['[[sandbox:task-fails]] [[sandbox:refuse]]', 400],
    ['[[sandbox:wrong-format]]', 502],
    ['[[sandbox:file=html]]', 502],
  ])(
    'is made by the sandbox, which obeys %j: %i',
    async (words, status) => {
      const prompt = `The sea ${words} [[sandbox:task-ms=100]]`;
      const { answer, charged } = await buy(gateway, { prompt, duration_seconds: 5 });
      expect(answer.status).toBe(status);
      expect(charged).toBe(status === 200 ? 5n * PER_SECOND : 0n);
      // Five seconds at 128 kbit/s.
      if (status === 200) expect(answer.bytes.length).toBeGreaterThan(60_000);
    },
    30_000,
  );
});
