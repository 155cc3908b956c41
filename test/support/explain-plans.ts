import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/platform/database/data-source.js';

/** The connection tells the plan of each statement it runs, those inside of functions too. */
const EXPLAINED = [
  '-c session_preload_libraries=auto_explain',
  '-c auto_explain.log_min_duration=0',
  '-c auto_explain.log_nested_statements=on',
  '-c auto_explain.log_level=notice',
].join(' ');

/** A data source of one connection; `hear` gets the text of every statement and its plan. Destroy it in the end. */
export async function dataSourceWithPlans(
  databaseUrl: string,
  hear: (statement: string, plan: string) => void,
): Promise<DataSource> {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', EXPLAINED);
  const dataSource = await createDataSource({ url: url.href, poolSize: 1 }).initialize();
  hearPlans(dataSource, hear);
  return dataSource;
}

/** Tells the plans that the connections of a data source report as notices (auto_explain). */
export function hearPlans(
  dataSource: DataSource,
  hear: (statement: string, plan: string) => void,
): void {
  const { master: pool } = dataSource.driver as unknown as { readonly master: Pool };
  const heard = new WeakSet<PoolClient>();
  pool.on('acquire', (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    client.on('notice', ({ message = '' }) => {
      const [, text = '', plan = ''] =
        /Query Text: (.*?)\n(?=[^\n]*\(cost=)(.*)/s.exec(message) ?? [];
      const [statement = ''] = text.split('Query Parameters:');
      hear(statement.replace(/\s+/g, ' ').trim(), plan);
    });
  });
}
