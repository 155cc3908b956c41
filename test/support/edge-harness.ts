import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import { SystemClock } from '../../src/common/time/clock.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { LocalFileStore } from '../../src/platform/storage/local-file-store.js';
import { StoredFileSweeper } from '../../src/platform/storage/stored-file-sweeper.js';
import { StoredFiles } from '../../src/platform/storage/stored-files.js';
import { AsyncUpstreams } from './async-upstreams.js';
import type { TestAccount } from './gateway.js';
import { type Answer, postJson, send } from './http-answer.js';
import { freePort, type GatewayProgram, startGatewayProgram, temporaryFolder } from './process.js';
import { type Edge, startStatementProxy, type StatementProxy } from './statement-proxy.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { IDLE_TICKER } from './test-ledger.js';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.js';

const RETRY_MS = 50;
const SECRET = 'a-secret-for-webhooks-0123456789';
/** Longer than any file is kept that no task names: a source lasts as long as its task may be open. */
const UNNAMED_FOR = '3 days';

/** Where a kind is submitted, and the smallest body. */
const ORDERS = {
  dub: {
    path: '/v1/audio/dubbing',
    body: { model: 'aud-dubbing-v1', target_language: 'fr', webhook_secret: SECRET },
  },
  video: { path: '/v1/videos', body: { model: 'vid-motion', prompt: 'The sea', seconds: '5' } },
  song: {
    path: '/v1/music/generations',
    body: {
      model: 'song-upload-cover',
      gen_description: 'as a waltz',
      webhook_secret: SECRET,
    },
  },
} as const;

/** A task as its row says. */
export interface EdgeTask {
  readonly status: string;
  readonly reserved: string;
  readonly charged: string | null;
}

/** A gateway in a process that is killed at edges and started again, with all that it talks to. */
export class EdgeHarness {
  gateway!: GatewayProgram;
  account!: TestAccount;

  private constructor(
    readonly database: TestDatabase,
    readonly proxy: StatementProxy,
    readonly upstreams: AsyncUpstreams,
    readonly receiver: WebhookReceiver,
    readonly folder: string,
    readonly settings: NodeJS.ProcessEnv,
  ) {}

  /** Starts one; call `stop` and `cleanUp` in `afterAll`. */
  static async open(credit: bigint, settings: NodeJS.ProcessEnv = {}): Promise<EdgeHarness> {
    const database = await createTestDatabase();
    const proxy = await startStatementProxy(database.url);
    const upstreams = await AsyncUpstreams.start();
    const receiver = await startWebhookReceiver();
    const folder = await temporaryFolder();
    const harness = new EdgeHarness(database, proxy, upstreams, receiver, folder, {
      ...upstreams.settings,
      EGRESS_ALLOW: `${upstreams.host},${receiver.settings.EGRESS_ALLOW}`,
      DATABASE_URL: proxy.through(database.url),
      PORT: String(await freePort()),
      STORAGE_URL: `file://${folder}`,
      TASK_TICK_MS: '50',
      TASK_POLL_INTERVAL_MS: '50',
      ...settings,
    });
    harness.gateway = await startGatewayProgram(harness.settings);
    harness.account = await harness.gateway.account(credit);
    return harness;
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await Promise.all([this.upstreams.stub.stop(), this.receiver.stop()]);
    await this.database.drop();
  }

  query<Row>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.dataSource.query<Row[]>(sql, values);
  }

  /** Posts with one idempotency key until the task is accepted; returns its id. */
  async submitted(kind: keyof typeof ORDERS, key: string): Promise<string> {
    const { path, body } = ORDERS[kind];
    const { url } = this.upstreams.stub;
    const sources = {
      dub: { source_url: `${url}/source.wav` },
      video: {},
      // A recording of its own: an upload that is paid is not made again within a day.
      song: { audio_url: `https://media.example/${encodeURIComponent(key)}.mp3` },
    };
    const whole = { ...body, ...sources[kind], webhook: this.receiver.url };
    const headers = { ...this.account.headers, 'idempotency-key': key };
    for (;;) {
      const answer = await postJson(`${this.gateway.url}${path}`, headers, whole).catch(
        () => undefined,
      );
      if (answer && answer.status < 300) return (answer.json as { id: string }).id;
      if (answer && answer.status < 500) throw new Error(answer.bytes.toString());
      await sleep(RETRY_MS);
    }
  }

  /** Resolves once the gateway was killed at this edge. */
  async killedAt(edge: Edge): Promise<void> {
    const { child, exited } = this.gateway;
    this.proxy.watch(edge, () => child.kill('SIGKILL'));
    await exited;
  }

  /** Starts the next gateway; the leases of the dead one have ended, or end in their time. */
  async restart(leases: 'ended' | 'real' = 'ended'): Promise<void> {
    if (leases === 'ended') await this.endLeases();
    this.gateway = await startGatewayProgram(this.settings);
  }

  private async endLeases(): Promise<void> {
    await this.query(`UPDATE task_work SET due_at = least(due_at, now())`);
    await this.query(`UPDATE webhook_delivery SET due_at = now() WHERE is_under_way`);
    await this.query(`UPDATE idempotency_key SET lease_until = now() WHERE task_id IS NULL`);
  }

  async task(id: string): Promise<EdgeTask> {
    const [task] = await this.query<EdgeTask>(
      `SELECT status, reserved, charged FROM task WHERE id = $1`,
      [fromPublicId('task', id)],
    );
    if (!task) throw new Error(`${id} is lost`);
    return task;
  }

  content(kind: 'dub' | 'video', id: string): Promise<Answer> {
    const path = `${kind === 'dub' ? 'tasks' : 'videos'}/${id}/content`;
    return send(`${this.gateway.url}/v1/${path}`, { headers: this.account.headers });
  }

  /** Files on the disk after three days. */
  async filesLeft(): Promise<string[]> {
    await this.query(
      `UPDATE stored_file SET expires_at = expires_at - interval '${UNNAMED_FOR}',
              created_at = created_at - interval '${UNNAMED_FOR}'`,
    );
    const clock = new SystemClock();
    const { dataSource } = this.database;
    const files = new StoredFiles(
      new LocalFileStore(this.folder),
      dataSource,
      clock,
      new Metrics(),
    );
    await new StoredFileSweeper(files, dataSource, clock, IDLE_TICKER).sweep();
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }
}
