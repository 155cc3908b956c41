import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Caller, mayHaveLimit } from '../../auth/caller.js';
import type { Quote } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { Unfunded } from '../../admission/hold-refusal.js';

/** What is available beside the prompt is divided by this for a hold that fits (decision G-106). */
const FITTED_PARTS = 8n;

/**
 * What the account has, and the least of what the limits of the key and of the key that made it leave. As `key_room`, but
 * without a lock: a call may be refused all the same.
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
     WHERE $3 AND k.spend_limit IS NOT NULL AND k.id IN ($2, (SELECT maker_id FROM api_key WHERE id = $2))) AS room
    FROM account a WHERE a.id = $1`;

/** What a caller may spend now, and what a call would be refused for that costs more. */
export type Available = Unfunded;

/** Tells what a hold would be, for quotes. Nothing is held. */
@Injectable()
export class QuotedHolds {
  constructor(private readonly dataSource: DataSource) {}

  /** What the caller may spend now. */
  async availableTo(caller: Caller): Promise<Available> {
    const values = [caller.accountId, caller.apiKeyId, mayHaveLimit(caller)];
    const [row] = await this.dataSource.query<
      { readonly balance: string; readonly room: string | null }[]
    >(AVAILABLE, values);
    const balance = BigInt(row?.balance ?? 0);
    const room = row?.room == null ? undefined : BigInt(row.room);
    return room !== undefined && room <= balance
      ? { outcome: 'over_limit', availableMicroUsd: room }
      : { outcome: 'insufficient', availableMicroUsd: balance };
  }
}

/** What a call with this quote holds where so much is available, or needs where it is more (`execution_step_v3`). */
export function heldFor({ amountMicroUsd, fit }: Quote, available: MicroUsd): MicroUsd {
  if (fit === undefined) return amountMicroUsd;
  const share = fit.promptMicroUsd + available / FITTED_PARTS;
  return least(amountMicroUsd, greatest(fit.floorMicroUsd, least(available, share)));
}

const least = (one: MicroUsd, other: MicroUsd): MicroUsd => (one < other ? one : other);
const greatest = (one: MicroUsd, other: MicroUsd): MicroUsd => (one > other ? one : other);
