import { ApiProperty } from '@nestjs/swagger';
import type { AccountRunningDry } from '../../billing/accounts/accounts-running-dry.js';
import { marginOf } from '../../billing/cost-sums.js';
import { millisecondsOf, type UsageRow } from '../../billing/usage/usage-reports.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd, type MicroUsd } from '../../common/money/micro-usd.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import { DRY_DAYS, OVERVIEW_HOURS, type Overview } from '../overview.service.js';
import {
  BalancesOverview,
  BooksOverview,
  BreakerOverview,
  DebtsOverview,
  DryOverview,
  HoldsOverview,
  ProviderOverview,
  TasksOverview,
  UndecidedOverview,
  WebhooksOverview,
} from './overview-parts.view.js';
import { HourOverview, UsageOverview } from './overview-usage.view.js';

/** The state of the gateway at a glance. */
export class OverviewView {
  @ApiProperty({ enum: ['overview'], description: 'Says what kind of object this is' })
  object!: 'overview';

  @ApiProperty({
    type: 'integer',
    example: 1_700_000_000,
    description: 'When it was read: epoch seconds',
  })
  at!: number;

  @ApiProperty({ type: BooksOverview, description: 'The last audit' })
  audit!: BooksOverview;

  @ApiProperty({ type: BalancesOverview, description: 'The sums of all accounts' })
  balances!: BalancesOverview;

  @ApiProperty({ type: HoldsOverview, description: 'What holds money now' })
  holds!: HoldsOverview;

  @ApiProperty({ type: UsageOverview, description: `The last ${OVERVIEW_HOURS} hours together` })
  last_day!: UsageOverview;

  @ApiProperty({
    type: [HourOverview],
    description: `Each of the last ${OVERVIEW_HOURS} hours of UTC, the newest first, which runs still`,
  })
  hours!: HourOverview[];

  @ApiProperty({ type: TasksOverview, description: 'Tasks under way' })
  tasks!: TasksOverview;

  @ApiProperty({
    type: UndecidedOverview,
    description: 'Tasks whose outcome a person has to find out',
  })
  to_decide!: UndecidedOverview;

  @ApiProperty({ type: WebhooksOverview, description: 'Deliveries that are due and not begun' })
  webhooks!: WebhooksOverview;

  @ApiProperty({
    type: [BreakerOverview],
    description: 'Circuit breakers of this process that are open',
  })
  breakers!: BreakerOverview[];

  @ApiProperty({ type: DebtsOverview, description: 'What this process still has to give back' })
  debts!: DebtsOverview;

  @ApiProperty({ type: DryOverview, description: 'Accounts whose money will soon be spent' })
  running_dry!: DryOverview;

  @ApiProperty({ type: [ProviderOverview], description: 'Every provider, built in or configured' })
  providers!: ProviderOverview[];

  @ApiProperty({ description: 'Whether the sandbox serves every provider' })
  is_sandbox_only!: boolean;
}

/** The overview with public ids and amounts as text. */
export function viewOverview(overview: Overview): OverviewView {
  const { books, tasks, undecided, webhooks, runningDry } = overview;
  const byHour = new Map(overview.usage.map((row) => [row.hour, row]));
  const hours = overview.hours.map((hour) => byHour.get(hour) ?? NOTHING);
  return {
    object: 'overview',
    at: Math.floor(overview.atMs / 1000),
    audit: {
      ok: books.isOk,
      finished_at: books.auditedAt === null ? null : toEpochSeconds(books.auditedAt),
      entries_microusd: formatMicroUsd(books.auditedMicroUsd),
    },
    balances: viewBalances(books),
    holds: {
      calls: books.openCalls,
      oldest_call_age_seconds: secondsOf(books.oldestCallAgeSeconds),
      tasks: Object.values(tasks.open).reduce((sum, count) => sum + count, 0),
    },
    last_day: viewUsage({ ...sumOf(hours), ...overview.latency }),
    hours: hours.map((row, index) => ({ hour: overview.hours[index] ?? '', ...viewUsage(row) })),
    tasks: {
      queued: tasks.open.queued,
      processing: tasks.open.processing,
      lag_seconds: tasks.lagSeconds,
    },
    to_decide: {
      tasks: undecided.tasks,
      oldest_age_seconds: secondsOf(undecided.oldestAgeSeconds),
      held_microusd: formatMicroUsd(undecided.heldMicroUsd),
    },
    webhooks: { overdue: webhooks.count, lag_seconds: webhooks.ageSeconds },
    breakers: overview.breakers.map(({ provider, operation }) => ({ provider, operation })),
    debts: { releases: overview.owedReleases },
    running_dry: {
      count: runningDry.count,
      within_days: DRY_DAYS,
      accounts: runningDry.first.map(viewDry),
    },
    providers: overview.providers.map(({ provider, variable, servedBy }) => ({
      provider,
      key_variable: variable,
      has_key: servedBy === 'provider' && variable !== null,
      served_by: servedBy,
    })),
    is_sandbox_only: overview.isSandboxOnly,
  };
}

const viewBalances = (books: Overview['books']): OverviewView['balances'] => ({
  accounts: books.accounts,
  posted_microusd: formatMicroUsd(books.postedMicroUsd),
  held_microusd: formatMicroUsd(books.heldMicroUsd),
  available_microusd: formatMicroUsd(books.postedMicroUsd - books.heldMicroUsd),
});

type HourRow = Pick<
  UsageRow,
  'calls' | 'failures' | 'charged' | 'cost' | 'costed' | 'p50_bucket' | 'p99_bucket'
>;
const SUMMED = ['calls', 'failures', 'charged', 'cost', 'costed'] as const;
const NOTHING: HourRow = {
  ...{ calls: '0', failures: '0', charged: '0', cost: '0', costed: '0' },
  ...{ p50_bucket: null, p99_bucket: null },
};

function sumOf(rows: readonly HourRow[]): Pick<HourRow, (typeof SUMMED)[number]> {
  const sum = { ...NOTHING };
  for (const row of rows) {
    for (const name of SUMMED) sum[name] = String(BigInt(sum[name]) + BigInt(row[name]));
  }
  return sum;
}

function viewUsage(row: HourRow): UsageOverview {
  const { costMicroUsd, marginMicroUsd, costKnownCalls } = marginOf(row);
  return {
    calls: Number(row.calls),
    failures: Number(row.failures),
    latency_p50_ms: millisecondsOf(row.p50_bucket),
    latency_p99_ms: millisecondsOf(row.p99_bucket),
    charged_microusd: row.charged,
    earned: {
      cost_microusd: textOf(costMicroUsd),
      margin_microusd: textOf(marginMicroUsd),
      cost_known_calls: costKnownCalls,
    },
  };
}

const viewDry = ({ id, name, availableMicroUsd, burnMicroUsdPerDay }: AccountRunningDry) => ({
  id: toPublicId('acct', id),
  name,
  available_microusd: formatMicroUsd(availableMicroUsd),
  burn_microusd_per_day: formatMicroUsd(burnMicroUsdPerDay),
  days_left: Number(availableMicroUsd / burnMicroUsdPerDay),
});

const textOf = (amount: MicroUsd | null) => (amount === null ? null : formatMicroUsd(amount));
const secondsOf = (seconds: number | null) => (seconds === null ? null : Math.floor(seconds));
