import type { DataSource } from 'typeorm';

const END = `
  SELECT task_complete($1, $2, NULL, '{queued,processing}', false, $3, $4, $5, true, NULL, '{}', $6, $7, $7, NULL, NULL, now(),
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) AS ended`;

/** Ends a task in the database without its kind and its webhook: charged this much, or failed or expired. */
export async function endTask(
  on: Pick<DataSource, 'query'>,
  accountId: string,
  id: string,
  end: number | 'failed' | 'expired',
): Promise<void> {
  const terms =
    typeof end === 'number'
      ? ['succeeded', 'settle', end, '{}', null]
      : [end, 'release', null, null, end === 'failed' ? 'provider_task_failed' : null];
  await on.query(END, [accountId, id, ...terms]);
}
