import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { runMigrations } from '../../src/platform/database/run-migrations.js';
import { StockPostgres } from '../support/stock-postgres.js';

/** What the tests of plans find of the run's own server. */
const { TEST_SERVER_URL, TEST_TEMPLATE } = process.env;
const START_MS = 120_000;

let server: StockPostgres;

if (StockPostgres.program === undefined) {
  // eslint-disable-next-line jest/no-disabled-tests -- StockPostgres has said loudly that it is missing
  it.skip('the tests of plans hold on a PostgreSQL with its own defaults', () => undefined);
} else {
  // Before those of the imported tests, which make their databases there.
  beforeAll(async () => {
    server = await StockPostgres.start();
    const template = `shim_template_${randomUUID().replaceAll('-', '')}`;
    const admin = await createDataSource({ url: server.url, poolSize: 1 }).initialize();
    await admin.query(`CREATE DATABASE ${template}`).finally(() => admin.destroy());
    const url = new URL(server.url);
    url.pathname = `/${template}`;
    const migrated = await createDataSource({ url: url.href, poolSize: 1 }).initialize();
    await runMigrations(migrated).finally(() => migrated.destroy());
    Object.assign(process.env, { TEST_SERVER_URL: server.url, TEST_TEMPLATE: template });
  }, START_MS);

  describe('the server of these tests', () => {
    it('has the settings that PostgreSQL has by itself', async () => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      const { rows } = await client
        .query<{ name: string; setting: string }>(
          `SELECT name, setting FROM pg_settings WHERE name IN ('jit', 'fsync', 'work_mem', 'random_page_cost') ORDER BY name`,
        )
        .finally(() => client.end());
      expect(rows.map(({ name, setting }) => `${name}=${setting}`)).toEqual([
        'fsync=on',
        'jit=on',
        'random_page_cost=4',
        'work_mem=4096',
      ]);
    });
  });

  await import('../../src/billing/usage/usage-plans.db-spec.js');
  await import('../../src/billing/usage/usage-sum-plans.db-spec.js');
  await import('../../src/billing/calls/sweep-plan.db-spec.js');
  await import('../../src/billing/calls/account-versions.db-spec.js');
  await import('../tasks/query-plans.db-spec.js');

  // Behind theirs, which drop their databases.
  afterAll(async () => {
    Object.assign(process.env, { TEST_SERVER_URL, TEST_TEMPLATE });
    await server.stop();
  });
}
