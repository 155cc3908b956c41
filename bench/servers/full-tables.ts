import type { DataSource } from 'typeorm';

/** BENCH_TASKS_SCALE=0.1 fills the tables a tenth as full. */
const SCALE = Number(process.env.BENCH_TASKS_SCALE ?? 1);
/** Tasks that are open in the tables of a benchmark, and those that are over. */
export const OPEN_TASKS = Math.round(100_000 * SCALE);
export const FINISHED_TASKS = Math.round(1_000_000 * SCALE);
const ACCOUNTS = 1_000;
const FILL_ROWS = 25_000;

/**
 * Finished tasks, and open ones that are all being polled: due at random within so many seconds from now, and an hour old where
 * that is not at once, so that they are polled at their longest interval. Ids grow with time, as those of the gateway do.
 */
export async function fillTasks(
  dataSource: DataSource,
  upstreamUrl: string,
  dueWithinSeconds = 0,
): Promise<void> {
  const createdAt = dueWithinSeconds === 0 ? 'now()' : `now() - interval '1 hour'`;
  const account = `lpad(to_hex(n % ${ACCOUNTS}), 32, '0')::uuid`;
  const id = `('018bcfe5' || lpad(to_hex(n), 8, '0') || '80000000' || lpad(to_hex(n), 8, '0'))::uuid`;
  const columns = `account_id, id, kind, modality, model, status, details, provider, provider_base_url, on_sandbox,
    upstream_model, reserved, provider_job_id, result, charged, completed_at, created_at`;
  const common = `'job', 'audio', 'aud-dubbing-v1'`;
  const upstream = `'{}', 'elevenlabs', '${upstreamUrl}', false, 'dubbing_v1', 12500, 'job-' || n`;
  const statements = [
    ...series(
      FINISHED_TASKS,
      (from, to) =>
        `INSERT INTO task (${columns}) SELECT ${account}, ${id}, ${common}, 'succeeded', ${upstream},
           '{"urls":[]}', 12500, now(), now() FROM generate_series(${from}, ${to}) n`,
    ),
    ...series(
      OPEN_TASKS,
      (from, to) =>
        `INSERT INTO task (${columns}) SELECT ${account}, ${id}, ${common}, 'processing', ${upstream},
           NULL, NULL, NULL, ${createdAt} FROM generate_series(${FINISHED_TASKS} + ${from}, ${FINISHED_TASKS} + ${to}) n`,
    ),
    `SET statement_timeout = 0;
     INSERT INTO task_work (account_id, task_id, lane, phase, due_at)
       SELECT account_id, id, 'poll/elevenlabs', 'polling', now() + random() * interval '${dueWithinSeconds} seconds' FROM task WHERE status = 'processing'; RESET statement_timeout`,
    `SET statement_timeout = 0; ANALYZE task; ANALYZE task_work; RESET statement_timeout`,
    `SET statement_timeout = 0; CHECKPOINT; RESET statement_timeout`,
  ];
  for (const statement of statements) {
    await dataSource.query(statement);
  }
}

/** One statement for each {@link FILL_ROWS} rows: a longer one would be cut off. */
function series(rows: number, statementOf: (from: number, to: number) => string): string[] {
  return Array.from({ length: Math.ceil(rows / FILL_ROWS) }, (_, batch) =>
    statementOf(batch * FILL_ROWS + 1, Math.min(rows, (batch + 1) * FILL_ROWS)),
  );
}
