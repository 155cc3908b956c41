import type { DataSource } from 'typeorm';

const END = `
  SELECT task_complete($1, $2, NULL, $8, false, $3, $4, $5, true, NULL, '{}', $6, $7, $7, NULL, NULL, now(),
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, $9) AS ended`;

/**
 * Ends a task in the database without its kind and its webhook: charged this much, failed, expired, or after that delivered late.
 * `cost` is what it costs at its provider, if that is known.
 */
export async function endTask(
  on: Pick<DataSource, 'query'>,
  accountId: string,
  id: string,
  end: number | 'failed' | 'expired' | { readonly late: number },
  cost: number | null = null,
): Promise<void> {
  await on.query(END, [accountId, id, ...termsOf(end), cost]);
}

const OPEN = '{queued,processing}';

function termsOf(end: Parameters<typeof endTask>[3]): unknown[] {
  if (typeof end === 'number') return ['succeeded', 'settle', end, '{}', null, OPEN];
  if (typeof end === 'object') {
    return ['succeeded', 'settle_anew', end.late, '{}', null, '{failed,expired}'];
  }
  return [end, 'release', null, null, end === 'failed' ? 'provider_task_failed' : null, OPEN];
}
