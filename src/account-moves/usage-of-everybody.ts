import type { EntityManager } from 'typeorm';
import { COST_SUMS } from '../billing/cost-sums.js';
import { TOKEN_SUMS } from '../billing/token-sums.js';

/** A table of sums of usage that also has rows of all accounts together. */
interface SharedSums {
  readonly table: string;
  /** What a row of all accounts is told apart by. */
  readonly by: readonly string[];
  readonly sums: readonly string[];
}

const EVERYBODY = `'00000000-0000-0000-0000-000000000000'::uuid`;
const BY = ['model', 'endpoint', 'provider', 'upstream_model'];
const SUMS = ['calls', 'failures', 'quantity', 'charged', ...TOKEN_SUMS, ...COST_SUMS];
const SHARED: readonly SharedSums[] = [
  { table: 'usage_day', by: ['day', ...BY], sums: [...SUMS, 'given_back'] },
  { table: 'usage_latency', by: ['day', ...BY, 'bucket'], sums: ['calls'] },
  { table: 'usage_hour', by: ['hour', ...BY], sums: SUMS },
  { table: 'usage_hour_latency', by: ['hour', ...BY, 'bucket'], sums: ['calls'] },
];

const ofAccount = ({ table, by, sums }: SharedSums): string =>
  `SELECT ${by.join(', ')}, ${sums.map((name) => `sum(${name}) AS ${name}`).join(', ')}
     FROM ${table} WHERE account_id = $1 GROUP BY ${by.join(', ')}`;

/** Adds the sums of usage of an account, which were written, to those of all accounts. Whoever does it has `usage_state`. */
export async function addToEverybody(manager: EntityManager, accountId: string): Promise<void> {
  for (const shared of SHARED) {
    const { table, by, sums } = shared;
    const columns = [...by, ...sums].join(', ');
    await manager.query(
      `INSERT INTO ${table} AS d (account_id, api_key_id, ${columns})
         SELECT ${EVERYBODY}, ${EVERYBODY}, ${columns} FROM (${ofAccount(shared)}) s
         ON CONFLICT (account_id, api_key_id, ${by.join(', ')})
         DO UPDATE SET ${sums.map((name) => `${name} = d.${name} + excluded.${name}`).join(', ')}`,
      [accountId],
    );
  }
}

/** Takes them off again, before the rows of the account are deleted. A row of nothing goes. */
export async function takeFromEverybody(manager: EntityManager, accountId: string): Promise<void> {
  for (const shared of SHARED) {
    const { table, by, sums } = shared;
    await manager.query(
      `UPDATE ${table} d SET ${sums.map((name) => `${name} = d.${name} - s.${name}`).join(', ')}
         FROM (${ofAccount(shared)}) s
        WHERE d.account_id = ${EVERYBODY} AND ${by.map((name) => `d.${name} = s.${name}`).join(' AND ')}`,
      [accountId],
    );
    await manager.query(
      `DELETE FROM ${table} WHERE account_id = ${EVERYBODY} AND ${sums.map((name) => `${name} = 0`).join(' AND ')}`,
    );
  }
}
