import { setTimeout as sleep } from 'node:timers/promises';
import { fromPublicId } from '../../../src/common/ids/public-id.js';
import { videoPriceOf, type VendorGateway } from '../../contract/vendors/whole/played-gateway.js';
import type { PlayedOrder, PlayedVendor } from '../../contract/vendors/whole/played-vendor.js';
import { repeatableRandom } from '../../media/fuzz.js';
import { postJson, send } from '../../support/http-answer.js';
import { type VendorHistory, vendorHistory, type VideoEnd } from './vendor-histories.js';

const CREDIT = 1_000_000_000_000n;
/** Shares of the gateway are per account. */
const ACCOUNTS = 4;
const LOOK_MS = 100;
/** A video that has not ended by then hangs. */
const HANG_MS = 240_000;
/** Of a gateway whose vendors hang now and then. */
export const FUZZED_SETTINGS: NodeJS.ProcessEnv = {
  UPSTREAM_TIMEOUT_MS: '10000',
  TASK_POLL_INTERVAL_MS: '200',
  // Jobs whose ids came damaged end there.
  TASK_DEADLINE_MS: '60000',
};
const ENDS: Readonly<Record<string, VideoEnd>> = {
  succeeded: 'paid',
  failed: 'free',
  expired: 'free',
  reconciliation_required: 'unknown',
};
/** Once their outcome is known. */
const ENDED = `
  SELECT t.id, t.status, t.charged::text AS charged, t.content IS NOT NULL AS "hasFile",
         (SELECT string_agg(h.state, ' ') FROM hold h WHERE h.account_id = t.account_id AND h.id = t.id) AS hold,
         (SELECT count(*)::int FROM ledger_entry e
           WHERE e.account_id = t.account_id AND e.hold_id = t.id) AS charges
    FROM task t
   WHERE t.account_id = ANY($1) AND t.id = ANY($2::uuid[]) AND t.status NOT IN ('queued', 'processing')`;

interface EndedRow {
  readonly id: string;
  readonly status: string;
  readonly charged: string | null;
  readonly hasFile: boolean;
  readonly hold: string | null;
  readonly charges: number;
}

interface OpenVideo {
  readonly index: number;
  readonly prompt: string;
  readonly history: VendorHistory;
  readonly order: PlayedOrder;
  readonly sinceMs: number;
}

interface Buyer {
  readonly id: string;
  readonly headers: Record<string, string>;
}

/** The result for one vendor. */
export interface VendorVerdict {
  readonly vendor: string;
  readonly seed: number;
  /** How many histories were wanted, and how many were played to an end. */
  readonly count: number;
  readonly histories: number;
  readonly ends: Readonly<Record<string, number>>;
  /** Each names its history: with that seed and a count of 1 it is played again. */
  readonly violations: readonly string[];
}

/** Whether all histories that were wanted were played, and none has violated anything. */
export const isCleanVerdict = ({ count, histories, violations }: VendorVerdict): boolean =>
  count > 0 && histories === count && violations.length === 0;

/** Plays histories with one vendor at a gateway, and judges each by its books and by what the vendor saw. */
export class VendorFuzz {
  private readonly open = new Map<string, OpenVideo>();
  /** How many videos ended in each state. */
  private readonly ends: Record<string, number> = {};
  private readonly violations: string[] = [];
  private buyers: readonly Buyer[] = [];

  constructor(
    private readonly gateway: VendorGateway,
    private readonly vendor: PlayedVendor,
  ) {}

  /** Plays so many histories, some at once; each is made from the seed and its own number. */
  async run(count: number, seed: number, atOnce: number): Promise<VendorVerdict> {
    this.buyers = await Promise.all(Array.from({ length: ACCOUNTS }, () => this.buyer()));
    let next = 0;
    while (next < count || this.open.size > 0) {
      const room = Math.min(atOnce - this.open.size, count - next);
      const orders = Array.from({ length: room }, (_, place) => this.begin(seed, next + place));
      next += room;
      await Promise.all(orders);
      await sleep(LOOK_MS);
      await this.judgeEnded();
    }
    await this.judgeBooks();
    const { id } = this.vendor.wire;
    const { ends, violations } = this;
    const histories = Object.values(ends).reduce((sum, ended) => sum + ended, 0);
    return { vendor: id, seed, count, histories, ends, violations };
  }

  private async buyer(): Promise<Buyer> {
    const { headers } = await this.gateway.account(CREDIT);
    const { id } = (await send(`${this.gateway.url}/v1/account`, { headers })).json as {
      id: string;
    };
    return { id: fromPublicId('acct', id) ?? '', headers };
  }

  private async begin(seed: number, index: number): Promise<void> {
    const { wire } = this.vendor;
    const history = vendorHistory(wire, repeatableRandom(seed + index));
    const prompt = `A film of history ${seed + index}`;
    const order = this.vendor.expect(prompt, history.script);
    const { headers } = this.buyers[index % ACCOUNTS] ?? {};
    const body = { model: `vid-${wire.id}`, prompt, seconds: '5', ...wire.asked };
    const answer = await postJson(`${this.gateway.url}/v1/videos`, headers ?? {}, body);
    if (answer.status !== 200) {
      this.violations.push(`${seed + index}: ${answer.status} ${answer.bytes.toString()}`);
      return;
    }
    const { id } = answer.json as { id: string };
    const sinceMs = performance.now();
    this.open.set(uuidOf(id), { index: seed + index, prompt, history, order, sinceMs });
  }

  private async judgeEnded(): Promise<void> {
    const accounts = this.buyers.map(({ id }) => id);
    const ids = [...this.open.keys()];
    const rows = await this.gateway.dataSource.query<EndedRow[]>(ENDED, [accounts, ids]);
    await Promise.all(rows.map((row) => this.judge(row)));
    for (const [id, video] of this.open) {
      if (performance.now() - video.sinceMs < HANG_MS) continue;
      this.open.delete(id);
      this.violate(video, 'it did not end');
    }
  }

  /** A job in a list is taken once no submission is on its way that may have made it: after three minutes at the latest. */
  private mayBeFound({ history, sinceMs }: OpenVideo): boolean {
    const isListed = this.vendor.wire.list !== undefined;
    const isSought = isListed && (history.end === 'paid' || history.end === 'free');
    return isSought && performance.now() - sinceMs < HANG_MS;
  }

  private async judge(row: EndedRow): Promise<void> {
    const video = this.open.get(row.id);
    if (!video) return;
    const end = ENDS[row.status] ?? 'unknown';
    if (end === 'unknown' && this.mayBeFound(video)) return;
    this.open.delete(row.id);
    this.ends[row.status] = (this.ends[row.status] ?? 0) + 1;
    for (const fault of faultsOf(row, end, video)) this.violate(video, fault);
    if (end === 'unknown') await this.refuse(row.id, video);
    this.vendor.forget(video.prompt);
  }

  /** The decision of an operator. */
  private async refuse(id: string, video: OpenVideo): Promise<void> {
    const path = `/tasks/task_${id.replaceAll('-', '')}/resolve`;
    const { status } = await this.gateway.operate(path, { outcome: 'failed' });
    if (status !== 200) this.violate(video, `it cannot be resolved: ${status}`);
  }

  /** Of the accounts of this run; who plays several vendors at once audits the ledger after all of them. */
  private async judgeBooks(): Promise<void> {
    let left = 0n;
    for (const { headers } of this.buyers) {
      const account = (await send(`${this.gateway.url}/v1/account`, { headers })).json;
      const { available_microusd: available, held_microusd: held } = account as Record<
        string,
        string
      >;
      left += BigInt(available ?? 0);
      if (held !== '0') this.violations.push(`${held} is held after all`);
    }
    const due = BigInt(ACCOUNTS) * CREDIT - BigInt(this.ends.succeeded ?? 0) * this.price;
    if (left !== due) this.violations.push(`${left} is left, not ${due}`);
    const { keyFaults } = this.vendor;
    if (keyFaults.length > 0) this.violations.push(`keys: ${keyFaults.slice(0, 5).join(', ')}`);
  }

  private get price(): bigint {
    return videoPriceOf(this.vendor.wire);
  }

  private violate({ index, history, order }: OpenVideo, fault: string): void {
    const { script, end, mostSubmissions } = history;
    const seen = { submissions: order.submissions.length, files: order.files };
    const short = (_key: string, value: unknown): unknown =>
      typeof value === 'string' ? value.slice(0, 300) : value;
    const told = JSON.stringify({ end, mostSubmissions, seen, script }, short);
    this.violations.push(`--seed ${index} --count 1: ${fault}: ${told}`);
  }
}

const HOLDS: Readonly<Record<VideoEnd, string>> = {
  paid: 'settled',
  free: 'released',
  unknown: 'open',
};

/** Everything that is wrong with the end of a video. */
function faultsOf(row: EndedRow, end: VideoEnd, { history, order }: OpenVideo): string[] {
  const { status, hold, charges, charged, hasFile } = row;
  const isPaid = end === 'paid';
  const times = order.submissions.length;
  const facts: readonly (readonly [boolean, string])[] = [
    [hold === HOLDS[end], `it is ${status} and its hold ${hold}`],
    [charges === Number(isPaid), `${charges} charges`],
    [!isPaid || (charged !== null && order.files > 0), 'it is paid without a charge or a file'],
    [hasFile === isPaid, 'it has a file without being paid, or the reverse'],
    [times <= history.mostSubmissions, `it was sent ${times} times`],
    [history.end === undefined || history.end === end, `it is ${status}, not ${history.end}`],
  ];
  return facts.flatMap(([isSo, fault]) => (isSo ? [] : [fault]));
}

/** The id of a task as the database has it. */
const uuidOf = (id: string): string => fromPublicId('task', id) ?? '';
