import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../../../test/support/test-database.js';
import { createDataSource } from './data-source.js';
import { FailedDeliveries1700000001062 } from './migrations/1062-failed-deliveries.migration.js';
import { BackgroundResponses1700000001230 } from './migrations/1230-background-responses.migration.js';
import { pendingChanges, runMigrations } from './run-migrations.js';
import { SchemaTooNewError, SchemaTooOldError } from './schema-version.js';

class AddProbe9700000000001 implements MigrationInterface {
  readonly oldestVersion: string = '999.0.0';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE probe (id int)');
    // Long enough for the others to arrive.
    await queryRunner.query('SELECT pg_sleep(0.2)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE probe');
  }
}

class AddSmallProbe9700000000001 extends AddProbe9700000000001 {
  override readonly oldestVersion = '0.1.0';
}

class Break9700000000002 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT 1 / 0');
  }

  async down(): Promise<void> {
    // Never applied.
  }
}

describe('a migration whose index an operator may have built before', () => {
  const migrations = [
    { index: 'webhook_delivery_failed', migration: new FailedDeliveries1700000001062() },
    { index: 'task_open_responses', migration: new BackgroundResponses1700000001230() },
  ];
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const stateOf = async (index: string) => {
    const [row] = await database.dataSource.query<
      { oid: string; valid: boolean; definition: string }[]
    >(
      `SELECT indexrelid AS oid, indisvalid AS valid, pg_get_indexdef(indexrelid) AS definition
         FROM pg_index WHERE indexrelid = to_regclass($1)`,
      [index],
    );
    return row!;
  };

  it.each(migrations)(
    'keeps the valid $index, and builds an invalid one again',
    async ({ index, migration }) => {
      const { definition } = await stateOf(index);
      const runner = database.dataSource.createQueryRunner();
      await migration.down(runner);
      // Built for other rows, as one that was interrupted has none.
      await runner.query(definition.replace(/ WHERE .*$/, ' WHERE false'));
      const built = await stateOf(index);
      await migration.up(runner);
      expect(await stateOf(index)).toEqual(built);
      await migration.down(runner);
      await runner.query(definition.replace(/ WHERE .*$/, ' WHERE false'));
      await runner.query(
        'UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass($1)',
        [index],
      );
      await migration.up(runner);
      await runner.release();
      expect(await stateOf(index)).toMatchObject({ valid: true, definition });
    },
  );
});

describe('runMigrations', () => {
  let database: TestDatabase;
  const replicas: DataSource[] = [];

  async function replicaWith(...extra: (new () => MigrationInterface)[]): Promise<DataSource> {
    const replica = createDataSource({ url: database.url, poolSize: 1 });
    const migrations = [...(replica.options.migrations as []), ...extra];
    replica.setOptions({ migrations });
    await replica.initialize();
    replicas.push(replica);
    return replica;
  }

  const probeExists = async (): Promise<unknown> =>
    database.dataSource.query(`SELECT to_regclass('probe') IS NOT NULL AS found`);

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.destroy()));
    await database.dataSource.query('DROP TABLE IF EXISTS probe');
    await database.dataSource.query(`DELETE FROM migration WHERE timestamp >= 9700000000001`);
    await database.dataSource.query(
      `DELETE FROM schema_migration WHERE name LIKE '%9700000000001'`,
    );
  });
  afterAll(() => database.drop());

  it('finds nothing pending in a migrated database', async () => {
    expect(await runMigrations(database.dataSource)).toEqual([]);
  });

  it('applies a migration once when replicas start together', async () => {
    const starting = [1, 2, 3].map(() => replicaWith(AddProbe9700000000001));
    const applied = await Promise.all(
      (await Promise.all(starting)).map((source) => runMigrations(source)),
    );
    expect(applied.flat()).toEqual(['AddProbe9700000000001']);
  });

  it('applies all pending migrations or none', async () => {
    const replica = await replicaWith(AddProbe9700000000001, Break9700000000002);
    await expect(runMigrations(replica)).rejects.toThrow('division by zero');
    expect(await probeExists()).toEqual([{ found: false }]);
    expect(await replica.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('refuses a database that a newer version migrated', async () => {
    await runMigrations(await replicaWith(AddProbe9700000000001));
    const older = runMigrations(database.dataSource);
    await expect(older).rejects.toThrow(SchemaTooNewError);
    await expect(older).rejects.toThrow('AddProbe9700000000001, which needs version 999.0.0');
  });

  it('leaves a database as it is that a newer version migrated, where this one may run on it', async () => {
    const added = await runMigrations(await replicaWith(AddSmallProbe9700000000001));
    expect(added).toEqual(['AddSmallProbe9700000000001']);
    expect(await runMigrations(database.dataSource)).toEqual([]);
    expect(await pendingChanges(database.dataSource)).toEqual({ isEmpty: false, names: [] });
    expect(await probeExists()).toEqual([{ found: true }]);
  });

  it('keeps in the database which version may run on the schema after each migration', async () => {
    const kept = await database.dataSource.query<{ name: string }[]>(
      'SELECT m.name FROM migration m JOIN schema_migration s ON s.name = m.name ORDER BY m.timestamp',
    );
    const names = database.dataSource.migrations.map(({ name }) => name);
    expect(kept.map(({ name }) => name)).toEqual(names);
  });

  it('tries all changes and takes them back', async () => {
    const replica = await replicaWith(AddProbe9700000000001);
    expect(await runMigrations(replica, { isTrial: true })).toEqual(['AddProbe9700000000001']);
    expect(await probeExists()).toEqual([{ found: false }]);
    expect((await pendingChanges(replica)).names).toEqual(['AddProbe9700000000001']);
  });

  it('refuses a database that is older than version 0.1.0, and says what to do', async () => {
    const empty = await createEmptyDatabase();
    const old = await createDataSource({ url: empty.url, poolSize: 1 }).initialize();
    await old.query(`CREATE TABLE migration (id serial PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL);
      INSERT INTO migration (timestamp, name) VALUES (1700000000010, 'CreateLedger1700000000010')`);
    const trying = runMigrations(old);
    await expect(trying).rejects.toThrow(SchemaTooOldError);
    await expect(trying).rejects.toThrow('Start version 0.1.0 once on it');
    await old.destroy();
    await empty.drop();
  });

  describe('with the schema files', () => {
    const name = '81-usage.functions.sql';
    const spoil = (version: string) =>
      database.dataSource.query(
        `CREATE OR REPLACE FUNCTION usage_bucket(p_ms bigint) RETURNS smallint LANGUAGE sql IMMUTABLE AS 'SELECT 7::smallint';
         UPDATE schema_file SET checksum = 'other', version = '${version}' WHERE name = '${name}'`,
      );
    const bucketOf = async () => {
      const rows = await database.dataSource.query<{ bucket: number }[]>(
        'SELECT usage_bucket(1) AS bucket',
      );
      return rows[0]?.bucket;
    };

    it('replaces functions whose text has changed, once', async () => {
      await spoil('0.0.1');
      expect(await runMigrations(database.dataSource)).toEqual([name]);
      expect(await bucketOf()).toBe(0);
      expect(await runMigrations(database.dataSource)).toEqual([]);
    });

    it('leaves those of a newer version as they are', async () => {
      await spoil('999.0.0');
      expect(await runMigrations(database.dataSource)).toEqual([]);
      expect(await bucketOf()).toBe(7);
      await spoil('0.0.1');
      await runMigrations(database.dataSource);
    });
  });
});
