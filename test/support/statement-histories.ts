import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { DAY_MS } from '../../src/common/time/spans.js';

/** Times of a history are milliseconds of these three months, which are long over. */
export const MONTHS = ['2026-01', '2026-02', '2026-03'] as const;
export const BEGIN_MS = Date.parse('2026-01-01T00:00:00Z');
export const END_MS = Date.parse('2026-04-01T00:00:00Z');
const BORDERS = [Date.parse('2026-02-01T00:00:00Z'), Date.parse('2026-03-01T00:00:00Z')];
const MODELS = { 'aud-v4': '/v1/audio/speech', 'gen-image-2': '/v1/images/generations' } as const;
const REASONS = [null, 'goodwill', 'fault', 'billing_error'] as const;
/** So much that no history of a test overdraws. */
const FIRST_CREDIT = 1_000_000_000;

/** A call; it began and ended at these times, or runs still. */
export interface PlannedCall {
  readonly model: keyof typeof MODELS;
  readonly beganAtMs: number;
  readonly endedAtMs: number | null;
  readonly held: number;
  /** Null: it failed. */
  readonly charged: number | null;
  /** Given back later: amounts and times. */
  readonly refunds: readonly {
    readonly atMs: number;
    readonly share: number;
    readonly reason: (typeof REASONS)[number];
  }[];
}

/** Money that moves without a call: a credit, or with a negative amount a correction or an expiry. */
export interface PlannedCredit {
  readonly atMs: number;
  readonly amount: number;
  readonly expires: boolean;
}

/** What happens to an account. `lags` are how much later than their transactions began the entries are written. */
export interface MoneyHistory {
  readonly calls: readonly PlannedCall[];
  readonly credits: readonly PlannedCredit[];
  readonly lags: readonly number[];
}

/** An entry as the ledger has it. */
export interface PlannedEntry {
  readonly kind: 'credit' | 'correction' | 'charge' | 'expiry';
  readonly atMs: number;
  readonly amount: number;
  readonly call: number | null;
  readonly reason: string | null;
}

const MAX_LAG_MS = 60_000;

/** Often within a minute of a border. */
const timeMs = fc.oneof(
  fc.integer({ min: BEGIN_MS, max: END_MS - 1 }),
  fc
    .tuple(fc.constantFrom(...BORDERS), fc.integer({ min: -MAX_LAG_MS, max: MAX_LAG_MS }))
    .map(([border, offset]) => border + offset),
  fc.constantFrom(...BORDERS),
);

const call: fc.Arbitrary<PlannedCall> = fc
  .record({
    model: fc.constantFrom<(keyof typeof MODELS)[]>('aud-v4', 'gen-image-2'),
    beganAtMs: timeMs,
    lasts: fc.oneof(
      fc.integer({ min: 0, max: MAX_LAG_MS }),
      fc.integer({ min: 0, max: 40 * DAY_MS }),
    ),
    runsStill: fc.boolean(),
    held: fc.integer({ min: 0, max: 1_000 }),
    share: fc.option(fc.integer({ min: 0, max: 100 })),
    refunds: fc.array(
      fc.record({
        atMs: timeMs,
        share: fc.integer({ min: 1, max: 60 }),
        reason: fc.constantFrom(...REASONS),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ lasts, runsStill, share, ...rest }) => ({
    ...rest,
    endedAtMs: runsStill && lasts > DAY_MS ? null : rest.beganAtMs + lasts,
    charged: share === null ? null : Math.floor((rest.held * share) / 100),
  }));

export const moneyHistories: fc.Arbitrary<MoneyHistory> = fc.record({
  calls: fc.array(call, { maxLength: 12 }),
  credits: fc.array(
    fc.record({
      atMs: timeMs,
      amount: fc.integer({ min: -900, max: 900 }).filter((n) => n !== 0),
      expires: fc.boolean(),
    }),
    { maxLength: 8 },
  ),
  lags: fc.array(fc.integer({ min: 0, max: MAX_LAG_MS }), { minLength: 1, maxLength: 20 }),
});

/** The entries of a history in the order in which they are written: that of their times and lags. */
export function plannedEntriesOf({ calls, credits, lags }: MoneyHistory): PlannedEntry[] {
  const entries: PlannedEntry[] = credits.map(({ atMs, amount, expires }) => ({
    kind: amount > 0 ? 'credit' : expires ? 'expiry' : 'correction',
    atMs,
    amount,
    call: null,
    reason: amount > 0 || expires ? null : 'billing_error',
  }));
  for (const [index, { endedAtMs, charged, refunds }] of calls.entries()) {
    if (endedAtMs === null || charged === null || charged === 0) continue;
    entries.push({ kind: 'charge', atMs: endedAtMs, amount: -charged, call: index, reason: null });
    let rest = charged;
    for (const { atMs, share, reason } of refunds) {
      const amount = Math.min(rest, Math.ceil((charged * share) / 100));
      // A minute and more behind the charge, so that it is written behind it.
      const at = Math.max(atMs, endedAtMs + MAX_LAG_MS + 1);
      if (amount > 0) entries.push({ kind: 'correction', atMs: at, amount, call: index, reason });
      rest -= amount;
    }
  }
  const written = entries.map((entry, index) => ({
    entry,
    atMs: entry.atMs + (lags[index % lags.length] ?? 0),
  }));
  written.sort((one, other) => one.atMs - other.atMs);
  const first = { kind: 'credit', atMs: BEGIN_MS - DAY_MS, amount: FIRST_CREDIT } as const;
  return [{ ...first, call: null, reason: null }, ...written.map(({ entry }) => entry)];
}

const at = (ms: number): string => new Date(ms).toISOString();

/** Writes the history of an account, as the gateway would have written it; returns the ids of its calls. */
export async function writeHistory(
  dataSource: DataSource,
  accountId: string,
  history: MoneyHistory,
): Promise<string[]> {
  const ids = history.calls.map(({ beganAtMs }) => uuidV7(beganAtMs));
  for (const [index, { model, beganAtMs, endedAtMs, held, charged }] of history.calls.entries()) {
    const status = endedAtMs === null ? 'running' : charged === null ? 'failed' : 'succeeded';
    await dataSource.query(
      `INSERT INTO execution (account_id, id, process_id, held, model, endpoint, created_at, status, completed_at, charged, error_code,
         unit, quantity, duration_ms)
       VALUES ($1, $2, gen_random_uuid(), $3, $4, $5, $6, $7, $8, $9, $10, 'code_point', $11, 5)`,
      [
        ...[accountId, ids[index], held, model, MODELS[model], at(beganAtMs), status],
        endedAtMs === null ? null : at(endedAtMs),
        status === 'succeeded' ? charged : null,
        status === 'failed' ? 'provider_timeout' : null,
        String(held),
      ],
    );
  }
  let balance = 0;
  for (const { kind, atMs, amount, call: index, reason } of plannedEntriesOf(history)) {
    balance += amount;
    await dataSource.query(
      `INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, created_at, reason, credit_kind, credit_position)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        accountId,
        index === null ? null : ids[index],
        kind,
        amount,
        balance,
        at(atMs),
        reason,
        kind === 'credit' ? 'paid' : null,
        kind === 'expiry' ? 0 : null,
      ],
    );
  }
  const open = history.calls.filter(({ endedAtMs }) => endedAtMs === null);
  const held = open.reduce((sum, { held: amount }) => sum + amount, 0);
  await dataSource.query('UPDATE account SET posted = $2, held = $3 WHERE id = $1', [
    ...[accountId, balance, held],
  ]);
  return ids;
}
