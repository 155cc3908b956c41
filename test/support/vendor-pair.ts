import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { DAY_MS } from '../../src/common/time/spans.js';
import { TaskWorker } from '../../src/tasks/worker/task-worker.js';
import { startTestGateway, type TestGateway } from './gateway.js';
import { KeyedVendor, MADE_VIDEO, type SubmissionReply } from './keyed-vendor.js';
import { StubUpstream } from './stub-upstream.js';
import { VideoHarness } from './video-harness.js';

export const PRICE_OF_PAIR = 320_000n;
export const CREDIT_FOR_PAIR = 1_000_000n;
export const COST_OF_TWO = 111_000;
export const KEYS_OF_ONE = ['one-key-a', 'one-key-b'] as const;
export const KEY_OF_TWO = 'two-key';
/** Long enough for a submission, its polls, the file, and what is put off once. */
const STEPS = 6;

/** A video that was ordered, and its caller. */
interface OrderedVideo {
  readonly videos: VideoHarness;
  readonly id: string;
}

/** An answer without a word of the vendor. */
export const bareStatus =
  (code: number, headers = {}): SubmissionReply =>
  (response) =>
    response.writeHead(code, headers).end('{}');

/**
 * A gateway whose model `vid-pair` has two vendors, of which the first has two keys; the first of `vid-gone` cannot be reached. Tasks take
 * their steps when they are told to.
 */
export class VendorPair {
  private constructor(
    readonly one: KeyedVendor,
    readonly two: KeyedVendor,
    readonly gateway: TestGateway,
    private readonly settings: NodeJS.ProcessEnv,
  ) {}

  static async open(): Promise<VendorPair> {
    const one = new KeyedVendor(await StubUpstream.start());
    const two = new KeyedVendor(await StubUpstream.start());
    const gone = await StubUpstream.start();
    const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
    const urls = { one: one.stub.url, two: two.stub.url, gone: gone.url };
    for (const [id, url] of Object.entries(urls))
      writeFileSync(join(folder, `${id}.json`), JSON.stringify(KeyedVendor.file(id, url)));
    await gone.stop();
    const catalog = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
    const models = [modelOf('vid-pair', 'one', 'two'), modelOf('vid-gone', 'gone', 'two')];
    writeFileSync(catalog, JSON.stringify({ models }));
    process.env.TEST_ONE_KEYS = KEYS_OF_ONE.join(',');
    process.env.TEST_TWO_KEYS = KEY_OF_TWO;
    process.env.TEST_GONE_KEYS = 'gone-key';
    const settings = {
      ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: catalog, EGRESS_ALLOW: '127.0.0.1' },
      TASK_TICK_MS: String(DAY_MS),
    };
    return new VendorPair(one, two, await startTestGateway(settings), settings);
  }

  /** Both vendors take all work again, and the first has its keys. */
  async reset(): Promise<void> {
    await this.keysOfOne(...KEYS_OF_ONE);
    this.one.clear();
    this.two.clear();
  }

  async close(): Promise<void> {
    for (const id of ['ONE', 'TWO', 'GONE']) Reflect.deleteProperty(process.env, `TEST_${id}_KEYS`);
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
    await Promise.all([this.one, this.two].map(({ stub }) => stub.stop()));
  }

  /** The gateway has these keys of the first vendor from now on. */
  async keysOfOne(...keys: readonly string[]): Promise<void> {
    process.env.TEST_ONE_KEYS = keys.join(',');
    await this.gateway.reload();
  }

  /** A process that starts later on the same database, with these keys of the first vendor. */
  later(...keys: readonly string[]): Promise<TestGateway> {
    process.env.TEST_ONE_KEYS = keys.join(',');
    const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = this.gateway.config;
    return startTestGateway({ ...this.settings, DATABASE_URL, DATA_DIR });
  }

  /** Takes so many steps of all tasks. */
  async run(times = STEPS, by = this.gateway): Promise<void> {
    const worker = by.app.get(TaskWorker);
    for (let time = 0; time < times; time += 1) {
      await this.gateway.dataSource.query('UPDATE task_work SET due_at = now()');
      await worker.tick();
      await worker.whenIdle();
    }
  }

  async submitted(model = 'vid-pair', route?: string): Promise<OrderedVideo> {
    const videos = await VideoHarness.open(this.gateway, CREDIT_FOR_PAIR);
    const headers = route === undefined ? undefined : { 'x-gateway-route': route };
    const { id } = await videos.submitted({ model, prompt: 'The sea', seconds: '5' }, headers);
    return { videos, id };
  }

  async expectMade({ videos, id }: OrderedVideo): Promise<void> {
    expect(await videos.read(id)).toMatchObject({ status: 'completed' });
    expect((await videos.content(id)).bytes).toEqual(MADE_VIDEO);
    const available = CREDIT_FOR_PAIR - PRICE_OF_PAIR;
    expect(await videos.balance()).toMatchObject({ available, held: 0n });
  }
}

function modelOf(id: string, ...providers: readonly string[]): object {
  const price = (microUsd: number) => ({
    unit: 'video',
    by_seconds: [{ seconds: '5', micro_usd: microUsd }],
  });
  return {
    ...{ id, operation: 'video', limits: { max_image_urls: 0 } },
    price: price(Number(PRICE_OF_PAIR)),
    routable: true,
    routes: providers.map((provider) => ({
      provider,
      upstream_model: `m-of-${provider}`,
      ...(provider === 'two' && { cost: price(COST_OF_TWO) }),
    })),
  };
}
