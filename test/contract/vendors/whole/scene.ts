import { expect } from '@jest/globals';
import { signatureOf } from '../../../../src/webhooks/webhook-signature.js';
import { type Answer, postJson, send } from '../../../support/http-answer.js';
import { until } from '../../../support/until.js';
import type { WebhookReceiver } from '../../../support/webhook-receiver.js';
import { videoPriceOf, type VendorGateway } from './played-gateway.js';
import type { JobEnd } from './played-wire.js';
import {
  PLAYED_VIDEO,
  type PlayedOrder,
  type PlayedVendor,
  type VendorScript,
} from './played-vendor.js';

const CREDIT = 1_000_000n;
const SECRET = 'a secret of the caller';

/** Where scenes play. */
export interface VendorStage {
  readonly gateway: VendorGateway;
  readonly receiver: WebhookReceiver;
}

interface TaskState {
  readonly status: string;
  readonly charged: string | null;
  /** What it cost at the vendor, where that is told. */
  readonly cost: string | null;
  readonly evidence: string | null;
  readonly unknown: string | null;
  /** The states of its holds, of which it may have one. */
  readonly hold: string;
  readonly charges: number;
  readonly account: string;
  /** How often its file could not be stored. */
  readonly putOffs: number | null;
}
const TASK = `
  SELECT t.status, t.charged, t.cost, t.evidence_status AS evidence, t.unknown_state AS unknown,
         t.account_id AS account,
         (SELECT string_agg(h.state, ' ') FROM hold h WHERE h.id = t.id) AS hold,
         (SELECT w.put_offs FROM task_work w WHERE w.task_id = t.id AND w.phase = 'collecting') AS "putOffs",
         (SELECT count(*)::int FROM ledger_entry e WHERE e.hold_id = t.id) AS charges
    FROM task t WHERE t.id = $1::uuid`;

/** One video of one vendor, from its order to its last webhook. */
export class Scene {
  private id = '';

  private constructor(
    readonly vendor: PlayedVendor,
    readonly order: PlayedOrder,
    private stage: VendorStage,
    private readonly prompt: string,
    private readonly headers: Record<string, string>,
    private readonly price: bigint,
  ) {}

  /** Orders a video from each vendor, of an account of its own each. */
  static async openAll(
    stage: VendorStage,
    vendors: readonly PlayedVendor[],
    name: string,
    script: Partial<VendorScript>,
  ): Promise<Scene[]> {
    return Promise.all(
      vendors.map(async (vendor) => {
        const prompt = `A film of a vendor that ${name}: ${vendor.wire.id}`;
        const { headers } = await stage.gateway.account(CREDIT);
        const order = vendor.expect(prompt, script);
        const price = videoPriceOf(vendor.wire);
        const scene = new Scene(vendor, order, stage, prompt, headers, price);
        await scene.submit();
        return scene;
      }),
    );
  }

  get taskId(): string {
    return this.id.slice('task_'.length);
  }

  private get hook(): string {
    return `/${encodeURIComponent(this.prompt)}`;
  }

  /** Another process has taken the place of the gateway. */
  goOnAt(gateway: VendorGateway): void {
    this.stage = { ...this.stage, gateway };
  }

  async state(): Promise<TaskState> {
    const [row] = await this.stage.gateway.dataSource.query<TaskState[]>(TASK, [this.taskId]);
    if (!row) throw new Error('the task is gone');
    return row;
  }

  async untilStatus(...wanted: string[]): Promise<void> {
    const ends = ['succeeded', 'failed', 'expired', 'reconciliation_required'];
    await until(async () => {
      const { status } = await this.state();
      if (!wanted.includes(status) && ends.includes(status)) throw new Error(`it is ${status}`);
      return wanted.includes(status);
    });
  }

  /** Makes the task a day old, which is past its deadline. */
  async overdue(): Promise<void> {
    const past = `UPDATE task SET created_at = created_at - interval '1 day' WHERE id = $1::uuid`;
    await this.stage.gateway.dataSource.query(past, [this.taskId]);
  }

  /** The decision of an operator. */
  async resolve(outcome: 'failed'): Promise<void> {
    const answer = await this.stage.gateway.operate(`/tasks/${this.id}/resolve`, { outcome });
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  }

  /** It is still open: all of its price is held, nothing is charged, and the caller is told nothing. */
  async expectHeld(): Promise<void> {
    expect(await this.read()).toMatchObject({ status: 'in_progress', error: null });
    expect(await this.state()).toMatchObject({ charged: null, hold: 'open', charges: 0 });
    expect(await this.balance()).toEqual([CREDIT - this.price, this.price]);
    expect((await this.get('/content')).status).toBe(409);
    expect(this.told()).toEqual([]);
  }

  /** It was paid once, with exactly its price; its file is the vendor's, and the caller was told once. */
  async expectPaid(submissions = 1): Promise<void> {
    await this.untilStatus('succeeded');
    expect(await this.read()).toMatchObject({ status: 'completed', error: null });
    expect(await this.state()).toMatchObject({
      charged: String(this.price),
      hold: 'settled',
      charges: 1,
    });
    expect(await this.balance()).toEqual([CREDIT - this.price, 0n]);
    const content = await this.get('/content');
    expect([content.status, content.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect(content.bytes.equals(PLAYED_VIDEO)).toBe(true);
    await this.expectTold('completed');
    this.expectSubmitted(submissions);
  }

  /** It has failed and cost nothing; the caller was told once. */
  async expectFree(submissions = 1): Promise<void> {
    await this.untilStatus('failed', 'expired');
    expect(await this.read()).toMatchObject({ status: 'failed' });
    expect(await this.state()).toMatchObject({ charged: null, hold: 'released', charges: 0 });
    expect(await this.balance()).toEqual([CREDIT, 0n]);
    expect((await this.get('/content')).status).toBe(409);
    await this.expectTold('failed');
    this.expectSubmitted(submissions);
  }

  /**
   * {@link expectFree}; and where the documents of the vendor have words for refused content, the caller is told of it, and the
   * operator what the job cost.
   */
  async expectUnshown(at: 'submit' | 'job'): Promise<void> {
    await this.expectFree();
    const { refusals } = this.vendor.wire;
    if (refusals?.[at] === undefined) return;
    const code = 'provider_task_failed';
    const message = expect.stringMatching(/: content_policy_violation\.$/) as unknown;
    expect(await this.read()).toMatchObject({ error: { code, message } });
    const cost = at === 'job' ? (refusals.cost ?? null) : null;
    expect(await this.state()).toMatchObject({ cost, charged: null });
  }

  /** Nobody knows what the vendor has done, until an operator decides. */
  async expectUnknown(): Promise<void> {
    await this.untilStatus('reconciliation_required');
    await this.expectHeld();
    this.expectSubmitted(1);
  }

  /** The vendor was asked once to end the job in this way, where its documents have it; and never in another. */
  async expectEnds(end: JobEnd): Promise<void> {
    const wanted = this.vendor.wire.ends?.[end] ? [end] : [];
    await until(() => this.order.ends.length >= wanted.length);
    expect(this.order.ends).toEqual(wanted);
    expect(this.vendor.strays).toEqual([]);
  }

  /** The webhooks that came, each with a right signature. */
  told(): { readonly status: string; readonly id: string }[] {
    const mine = this.stage.receiver.received.filter(({ path }) => path === this.hook);
    return mine.map(({ body, headers }) => {
      const signature = String(headers['x-shim-signature']);
      const seconds = Number(/^t=(\d+),/.exec(signature)?.[1]);
      expect(signature).toBe(signatureOf(SECRET, seconds, body));
      return JSON.parse(body.toString()) as { status: string; id: string };
    });
  }

  /** What the vendor got was as its documents have it, and so often. */
  expectSubmitted(times: number): void {
    expect([...this.vendor.strays, ...this.vendor.keyFaults]).toEqual([]);
    expect(this.order.submissions).toHaveLength(times);
  }

  private async expectTold(status: string): Promise<void> {
    await until(() => this.told().length > 0);
    expect(this.told()).toMatchObject([{ id: this.id, status }]);
  }

  private async submit(): Promise<void> {
    const { headers, prompt } = this;
    const { gateway, receiver } = this.stage;
    const answer = await postJson(`${gateway.url}/v1/videos`, headers, {
      model: `vid-${this.vendor.wire.id}`,
      prompt,
      seconds: '5',
      ...this.vendor.wire.asked,
      webhook: new URL(receiver.url).origin + this.hook,
      webhook_secret: SECRET,
    });
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
    this.id = (answer.json as { id: string }).id;
  }

  private get(path: string): Promise<Answer> {
    const { headers } = this;
    return send(`${this.stage.gateway.url}/v1/videos/${this.id}${path}`, { headers });
  }

  private async read(): Promise<unknown> {
    return (await this.get('')).json;
  }

  /** What the account can spend, and what is held. */
  private async balance(): Promise<[bigint, bigint]> {
    const { headers } = this;
    const account = (await send(`${this.stage.gateway.url}/v1/account`, { headers })).json;
    const { available_microusd: available, held_microusd: held } = account as Record<
      string,
      string
    >;
    return [BigInt(available ?? -1), BigInt(held ?? -1)];
  }
}
