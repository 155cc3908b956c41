import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dumpSchema } from '../../../test/support/schema-dump.js';
import { StockPostgres } from '../../../test/support/stock-postgres.js';
import { createDataSource } from './data-source.js';
import { runMigrations } from './run-migrations.js';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
const describeStock = StockPostgres.program === undefined ? describe.skip : describe;

describeStock('the schema on the PostgreSQL of the system', () => {
  let server: StockPostgres;

  beforeAll(async () => {
    server = await StockPostgres.start();
  });
  afterAll(() => server.stop());

  it('equals schema.sql, too', async () => {
    const dataSource = await createDataSource({ url: server.url, poolSize: 2 }).initialize();
    try {
      await runMigrations(dataSource);
      expect((await dumpSchema(dataSource)).split('\n')).toEqual(SCHEMA.split('\n'));
    } finally {
      await dataSource.destroy();
    }
  });
});
