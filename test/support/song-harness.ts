import type { RecordedRequest } from '../../src/sandbox/http/recorder.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { type GatewayFromOutside, sharedGateway } from './shared-gateway.js';

const PATIENCE_MS = 60_000;

/** A track as tests read it. */
export type Track = Readonly<Record<string, string | number>> & { readonly id: string };

/** A task as clients see it. */
export interface SongAnswer {
  readonly id: string;
  readonly status: string;
  readonly progress: number | null;
  readonly result: { readonly urls: string[]; readonly tracks: Track[]; [field: string]: unknown };
  readonly error: { readonly code: string } | null;
  readonly reserved_microusd: string;
  readonly charged_microusd: string | null;
}

/** An error as clients see it. */
export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly type: string;
  readonly message: string;
}

/** A gateway with an account that makes songs. */
export class SongHarness<G extends GatewayFromOutside = GatewayFromOutside> {
  private constructor(
    readonly gateway: G,
    readonly account: TestAccount,
  ) {}

  /** With the shared gateway. */
  static async shared(): Promise<SongHarness> {
    const gateway = await sharedGateway();
    return new SongHarness(gateway, await gateway.account());
  }

  /** Starts one; call `stop` in `afterAll`. */
  static async start(settings: NodeJS.ProcessEnv = {}): Promise<OwnSongHarness> {
    const gateway = await startTestGateway({
      TASK_TICK_MS: '50',
      TASK_POLL_INTERVAL_MS: '200',
      ...settings,
    });
    return new SongHarness(gateway, await gateway.account());
  }

  stop(): Promise<void> {
    return this.gateway.stop();
  }

  post(
    body: unknown,
    headers: Record<string, string> = {},
    account: TestAccount = this.account,
  ): Promise<Response> {
    return fetch(`${this.gateway.url}/v1/music/generations`, {
      method: 'POST',
      headers: { ...account.headers, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** A submission that must be accepted. */
  async submit(
    body: object,
    headers: Record<string, string> = {},
    account: TestAccount = this.account,
  ): Promise<SongAnswer> {
    const answer = await this.post(body, headers, account);
    if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as SongAnswer;
  }

  /** A submission that must be refused, and leave no task and no hold. */
  async refused(body: unknown, account: TestAccount = this.account): Promise<Refused> {
    const before = await this.ordered(account);
    const answer = await this.post(body, {}, account);
    if (answer.status < 400) throw new Error(`accepted: ${await answer.text()}`);
    const after = await this.ordered(account);
    // Other tasks of the account may end meanwhile.
    if (after.tasks !== before.tasks || after.held > before.held) {
      throw new Error(`${answer.status}, but ${after.tasks - before.tasks} tasks are made`);
    }
    const { error } = (await answer.json()) as { error: Omit<Refused, 'status'> };
    return { status: answer.status, ...error };
  }

  /** How many tasks the account has, and what it holds in micro-USD. */
  async ordered({ accountId }: TestAccount): Promise<{ tasks: number; held: bigint }> {
    const [row] = await this.gateway.dataSource.query<{ tasks: number }[]>(
      'SELECT count(*)::int AS tasks FROM task WHERE account_id = $1',
      [accountId],
    );
    return { tasks: row?.tasks ?? 0, held: (await this.gateway.balance(accountId)).held };
  }

  async read(
    id: string,
    account: TestAccount = this.account,
    more: Record<string, string> = {},
  ): Promise<SongAnswer> {
    const headers = { ...account.headers, ...more };
    const answer = await fetch(`${this.gateway.url}/v1/tasks/${id}`, { headers });
    return (await answer.json()) as SongAnswer;
  }

  /** The task once it is final. */
  async ended(id: string, account: TestAccount = this.account): Promise<SongAnswer> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    do {
      const task = await this.read(id, account, { prefer: 'wait=30' });
      if (!['queued', 'processing'].includes(task.status)) return task;
    } while (performance.now() < giveUpAt);
    throw new Error(`${id} does not end`);
  }

  /** Submits a task and waits until it has succeeded. */
  async made(body: object): Promise<SongAnswer> {
    const task = await this.ended((await this.submit(body)).id);
    if (task.status !== 'succeeded') throw new Error(JSON.stringify(task));
    return task;
  }

  /** The last operation that the provider was asked for. */
  async lastOrder(): Promise<RecordedRequest> {
    const requests = await this.gateway.upstreamRequests();
    const order = requests.find(({ method }) => method === 'POST');
    if (!order) throw new Error('the provider was asked for nothing');
    return order;
  }

  /** What the provider was sent to a path, oldest first. */
  async sent(path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const requests = await this.gateway.upstreamRequests();
    return requests
      .filter((request) => request.path.endsWith(path))
      .map(({ body }) => body as Record<string, unknown>)
      .reverse();
  }
}

/** A harness with a gateway of its own, in the process of the test. */
export type OwnSongHarness = SongHarness<TestGateway>;
