import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { until } from '../support/until.js';
import type { Told } from './load.js';

const SETTLED_MS = 120_000;

/**
 * What is wrong with the books of the account, whose public id this is, once nothing is under way any more. `url` is that of a database
 * that takes writes.
 */
export async function faultsOfBooks(url: string, publicId: string, told: Told): Promise<string[]> {
  const accountId = fromPublicId('acct', publicId) ?? '';
  const dataSource = await createDataSource({ url }).initialize();
  try {
    const count = async (text: string, values: unknown[]): Promise<number> => {
      const [row] = await dataSource.query<{ n: number }[]>(
        `SELECT count(*)::int AS n FROM ${text}`,
        values,
      );
      return row?.n ?? -1;
    };
    await until(
      async () => (await count('account WHERE id = $1 AND held = 0', [accountId])) === 1,
      SETTLED_MS,
    );
    const ids = told.calls.map((id) => fromPublicId('exec', id));
    const tasks = told.tasks.map((id) => fromPublicId('task', id));
    const ofAccount = `execution WHERE account_id = $1 AND status = 'succeeded'`;
    const charged = await count(`${ofAccount} AND id = ANY ($2::uuid[])`, [accountId, ids]);
    const made = await count(ofAccount, [accountId]);
    const present = await count(`task WHERE account_id = $1 AND id = ANY ($2::uuid[])`, [
      accountId,
      tasks,
    ]);
    const ended = await count(`task WHERE account_id = $1 AND status = 'succeeded'`, [accountId]);
    const entries = await count(`ledger_entry WHERE account_id = $1 AND kind = 'charge'`, [
      accountId,
    ]);
    const audit = await auditBooks(dataSource, 'full');
    return [
      ...told.strange.slice(0, 3).map((text) => `an answer was ${text}`),
      ...(charged === ids.length ? [] : [`${ids.length} calls were answered, ${charged} charged`]),
      ...(made - charged <= told.broken + told.refused ? [] : [`${made} calls were charged`]),
      ...(present === tasks.length ? [] : [`${tasks.length} tasks were taken, ${present} exist`]),
      ...(entries === made + ended ? [] : [`${entries} charges for ${made} calls, ${ended} tasks`]),
      ...audit.discrepancies.map((each) => JSON.stringify(each)),
    ];
  } finally {
    await dataSource.destroy();
  }
}
