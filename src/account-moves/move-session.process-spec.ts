import { describe, expect, it } from '@jest/globals';
import { PgBouncer } from '../../test/support/pgbouncer.js';
import { createTestDatabase } from '../../test/support/test-database.js';
import { readCell } from './move-session.js';

const describeWithPgBouncer = PgBouncer.program === undefined ? describe.skip : describe;

describeWithPgBouncer('a move behind a PgBouncer in transaction mode', () => {
  it('is refused, and goes by MIGRATION_DATABASE_URL to the database itself', async () => {
    const pooler = await PgBouncer.start('ignore_startup_parameters = options,extra_float_digits');
    const database = await createTestDatabase();
    const { url } = database;
    const databaseUrl = pooler.through(url);
    const pooled = { databaseUrl, migrationDatabaseUrl: undefined, cell: '07' };
    await expect(readCell(pooled)).rejects.toThrow('A pooler in transaction mode');
    const direct = await readCell({ ...pooled, migrationDatabaseUrl: url });
    expect(await readCell({ ...pooled, databaseUrl: url })).toEqual(direct);
    await pooler.stop();
    await database.drop();
  });
});
