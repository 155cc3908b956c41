import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { TaskWorker } from '../../src/tasks/worker/task-worker.js';
import { wavFile } from '../media/wav-file.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { type Answer, postJson, send } from './http-answer.js';
import { expectRefused, type Refusal } from './refusal.js';
import { StubUpstream } from './stub-upstream.js';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.js';

const RATE_HZ = 1_000;
/** States at which clients stop polling. */
const FINAL = ['succeeded', 'failed', 'expired', 'reconciliation_required'];

/** A task object as clients see it. */
export interface TaskObject {
  readonly id: string;
  readonly status: string;
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly reserved_microusd: string;
  readonly charged_microusd: string | null;
  readonly completed_at: number | null;
}

/** A gateway, a host with sources for dubs, and a receiver of webhooks. */
export class DubbingHarness {
  /** It has enough money, and is new after each `clear`. */
  account!: TestAccount;
  /** Bodies of the orders that the provider got. The sandbox remembers its last requests only, polls among them. */
  private readonly ordered = new Set<string>();

  private constructor(
    readonly gateway: TestGateway,
    readonly host: StubUpstream,
    readonly receiver: WebhookReceiver,
  ) {}

  static async open(settings: NodeJS.ProcessEnv = {}): Promise<DubbingHarness> {
    const host = await StubUpstream.start();
    const receiver = await startWebhookReceiver();
    const gateway = await startTestGateway({
      EGRESS_ALLOW: `127.0.0.1:${new URL(host.url).port},${receiver.settings.EGRESS_ALLOW}`,
      TASK_TICK_MS: '50',
      TASK_POLL_INTERVAL_MS: '50',
      ...settings,
    });
    const harness = new DubbingHarness(gateway, host, receiver);
    await harness.clear();
    return harness;
  }

  /** A new account, and a second of silence on the host, which costs 12,500 micro-USD. */
  async clear(credit?: bigint): Promise<void> {
    // Tasks of earlier tests are not polled any more, because their polls would count as calls of this test.
    await this.gateway.dataSource.query('DELETE FROM task_work');
    await this.gateway.app.get(TaskWorker).whenIdle();
    this.account = await this.gateway.account(credit);
    this.host.seen.length = 0;
    this.receiver.received.length = 0;
    this.receiver.react(200);
    this.serve(silentWav(1));
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await Promise.all([this.host.stop(), this.receiver.stop()]);
  }

  /** From now on every URL of the host returns this file. */
  serve(file: Buffer): void {
    this.host.reply = (response) => response.end(file);
  }

  /** A source whose name the provider gets. It may contain magic inputs. */
  source(name = '[[sandbox:task-ms=50]]'): string {
    return `${this.host.url}/${name}.wav`;
  }

  /** Posts the smallest request with these fields. */
  post(fields: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const body = {
      model: 'aud-dubbing-v1',
      source_url: this.source(),
      target_language: 'fr',
      ...fields,
    };
    const url = `${this.gateway.url}/v1/audio/dubbing`;
    return postJson(url, { ...this.account.headers, ...headers }, body);
  }

  /** {@link post}, which has to be accepted. */
  async submit(fields: object = {}, headers: Readonly<Record<string, string>> = {}) {
    const answer = await this.post(fields, headers);
    expect(answer.status === 202 ? '' : answer.bytes.toString()).toBe('');
    return answer.json as TaskObject;
  }

  /** Proves that the request is refused, and that it leaves no task, hold, file or call of the provider. */
  async refuses(call: () => Promise<Answer>, refusal: Refusal): Promise<void> {
    const before = await this.rows();
    await expectRefused(this.gateway, this.account.accountId, call, refusal);
    expect(await this.rows()).toEqual(before);
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const url = `${this.gateway.url}/v1/tasks/${path}`;
    return send(url, { headers: { ...this.account.headers, ...headers } });
  }

  async task(id: string): Promise<TaskObject> {
    return (await this.get(id)).json as TaskObject;
  }

  /** The task once it has ended. */
  async ended(id: string): Promise<TaskObject> {
    for (;;) {
      const answer = await this.get(id, { prefer: 'wait=30' });
      const task = answer.json as TaskObject;
      if (FINAL.includes(task.status)) return task;
    }
  }

  /** The fields and the file head that the provider got for a task; waits until it has them. */
  async formOf(id: string): Promise<Record<string, string>> {
    let text: string | undefined;
    while ((text = await this.bodyNaming(id)) === undefined) await sleep(20);
    return Object.fromEntries(
      [...text.matchAll(/name="(\w+)"\r\n\r\n([^\r]*)\r\n/g)].map(
        ([, name = '', value = '']): [string, string] => [name, value],
      ),
    );
  }

  private async bodyNaming(id: string): Promise<string | undefined> {
    const requests = (await this.gateway.sandbox?.requests(1_000)) ?? [];
    for (const { method, path, body } of requests) {
      if (method === 'POST' && path.endsWith('/v1/dubbing')) this.ordered.add(String(body));
    }
    return [...this.ordered].find((body) => body.includes(id));
  }

  /** Tasks, holds and stored files of all accounts. */
  async rows(): Promise<unknown> {
    const count = (table: string, where = 'true') =>
      `(SELECT count(*)::int FROM ${table} WHERE ${where}) AS ${table}`;
    const sql = `SELECT ${count('task')}, ${count('hold', `state = 'open'`)}, ${count('stored_file', 'expires_at > now()')}`;
    const rows: unknown = await this.gateway.dataSource.query(sql);
    return rows;
  }
}

/** Silence of exactly this many microseconds, in as few bytes as possible. */
export function silentWav(seconds: number): Buffer {
  const isWhole = Math.abs(seconds * RATE_HZ - Math.round(seconds * RATE_HZ)) < 1e-6;
  const rateHz = isWhole ? RATE_HZ : 100_000;
  return wavFile(Math.round(seconds * rateHz), rateHz, 8);
}
