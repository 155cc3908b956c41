import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { RunOfCall } from '../../admission/admitted-call.js';
import { type Caller, mayHaveLimit } from '../../auth/caller.js';
import type { Quote } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { RunConflict, Unfunded } from '../../admission/hold-refusal.js';

/** What is available beside the prompt is divided by this for a hold that fits (decision G-106). */
const FITTED_PARTS = 8n;

/**
 * What the account has, the least of what the limits of the key and of the key that made it leave, and what the limit of the
 * run leaves. As `key_room`, but without a lock: a call may be refused all the same.
 */
const AVAILABLE = `
  SELECT a.posted - a.held AS balance, (
    SELECT min(k.spend_limit - maker_spent(k.account_id, k.id, p.start) - CASE
             WHEN s.spent IS NULL THEN key_spent(k.account_id, k.id, p.start)
             WHEN s.period_start < p.start THEN 0 ELSE s.spent END)
      FROM api_key k
     CROSS JOIN LATERAL (SELECT key_period_start(k.spend_limit_period, now()) AS start) p
      LEFT JOIN key_spend s ON s.account_id = k.account_id AND s.api_key_id = k.id AND s.period = k.spend_limit_period
                           AND s.begun_at > coalesce(k.spend_limit_since, '-infinity')
     WHERE $3 AND k.spend_limit IS NOT NULL AND k.id IN ($2, (SELECT maker_id FROM api_key WHERE id = $2))) AS room,
         r.id IS NOT NULL AS "isRunKnown", r.spend_limit AS "runLimit", r.spend_limit - r.spent - r.held AS "runRoom"
    FROM account a LEFT JOIN run r ON r.account_id = a.id AND r.id = $4 WHERE a.id = $1`;

interface AvailableRow {
  readonly balance: string;
  /** Null: no limit. The same holds for the two of the run. */
  readonly room: string | null;
  readonly isRunKnown: boolean;
  readonly runLimit: string | null;
  readonly runRoom: string | null;
}
const NOTHING: AvailableRow = {
  balance: '0',
  room: null,
  isRunKnown: false,
  runLimit: null,
  runRoom: null,
};

/** What a caller may spend now, and what a call would be refused for that costs more. */
export type Available = Unfunded;

/** Tells what a hold would be, for quotes. Nothing is held. */
@Injectable()
export class QuotedHolds {
  constructor(private readonly dataSource: DataSource) {}

  /** What the caller may spend now in the run, if one is named; a conflict where it names another limit than the run has. */
  async availableTo(caller: Caller, run?: RunOfCall): Promise<Available | RunConflict> {
    const values = [caller.accountId, caller.apiKeyId, mayHaveLimit(caller), run?.id ?? null];
    const [row = NOTHING] = await this.dataSource.query<AvailableRow[]>(AVAILABLE, values);
    const limitMicroUsd = amountOf(row.runLimit);
    const asked = run?.limitMicroUsd;
    if (row.isRunKnown && asked !== undefined && asked !== limitMicroUsd) {
      return { outcome: 'run_conflict', limitMicroUsd };
    }
    return leastOf({
      balance: BigInt(row.balance),
      key: amountOf(row.room),
      // The first call of a run sets its limit.
      run: row.isRunKnown ? amountOf(row.runRoom) : (asked ?? null),
    });
  }
}

/** The least of them, named as `execution_step_v3` does where two are equal; null is no limit. */
function leastOf(rooms: {
  readonly balance: MicroUsd;
  readonly key: MicroUsd | null;
  readonly run: MicroUsd | null;
}): Available {
  const { balance, key, run } = rooms;
  const ofKey: Available =
    key !== null && key <= balance
      ? { outcome: 'over_limit', availableMicroUsd: key }
      : { outcome: 'insufficient', availableMicroUsd: balance };
  const { outcome, availableMicroUsd: room } = ofKey;
  if (run === null || run > room || (run === room && outcome === 'over_limit')) return ofKey;
  return { outcome: 'over_run', availableMicroUsd: run };
}

const amountOf = (amount: string | null): MicroUsd | null =>
  amount === null ? null : BigInt(amount);

/** What a call with this quote holds where so much is available, or needs where it is more (`execution_step_v3`). */
export function heldFor({ amountMicroUsd, fit }: Quote, available: MicroUsd): MicroUsd {
  if (fit === undefined) return amountMicroUsd;
  const share = fit.promptMicroUsd + available / FITTED_PARTS;
  return least(amountMicroUsd, greatest(fit.floorMicroUsd, least(available, share)));
}

const least = (one: MicroUsd, other: MicroUsd): MicroUsd => (one < other ? one : other);
const greatest = (one: MicroUsd, other: MicroUsd): MicroUsd => (one > other ? one : other);
