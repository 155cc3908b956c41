import { TOKEN_SUMS } from '../token-sums.js';
import { COST_SUMS } from '../cost-sums.js';

const OF_CALL = [
  'day',
  'account_id',
  'api_key_id',
  'model',
  'endpoint',
  'provider',
  'upstream_model',
] as const;

/**
 * Sums with a column `run`, which is empty for calls of no run: their sums are those of all calls less those of the calls that
 * name a run. They take the place of the tables and function of the same names in a report.
 */
export const BY_RUN = {
  usage_day: byRun({
    all: 'usage_day',
    ofRuns: 'usage_run',
    columns: [...OF_CALL],
    sums: ['calls', 'failures', 'quantity', 'charged', ...TOKEN_SUMS, ...COST_SUMS],
  }),
  usage_latency: byRun({
    all: 'usage_latency',
    ofRuns: 'usage_run_latency',
    columns: [...OF_CALL, 'bucket'],
    sums: ['calls'],
  }),
  usage_refunds: byRun({
    all: 'usage_refunds($3, $1, $2)',
    ofRuns: 'usage_run_refunds($3, $1, $2)',
    columns: [...OF_CALL, 'reason'],
    sums: ['amount'],
  }),
} as const;

interface Split {
  /** What follows FROM, for the sums of all calls, and for those of the calls that name a run. */
  readonly all: string;
  readonly ofRuns: string;
  readonly columns: readonly string[];
  readonly sums: readonly string[];
}

function byRun({ all, ofRuns, columns, sums }: Split): string {
  const names = columns.join(', ');
  const whole = sums.join(', ');
  const less = sums.map((name) => `-${name}`).join(', ');
  return `(SELECT ${names}, '' AS run, ${whole} FROM ${all}
    UNION ALL SELECT ${names}, '', ${less} FROM ${ofRuns}
    UNION ALL SELECT ${names}, run, ${whole} FROM ${ofRuns}) by_run`;
}
