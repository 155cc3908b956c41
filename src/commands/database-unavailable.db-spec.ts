import { describe, expect, it } from '@jest/globals';
import { startDatabaseProxy } from '../../test/support/database-proxy.js';
import { createTestDatabase } from '../../test/support/test-database.js';
import { OperatorActions } from '../auth/acts/operator-actions.js';
import { SystemClock } from '../common/time/clock.js';
import { createDataSource } from '../platform/database/data-source.js';
import { waitForDatabase } from '../platform/database/wait-for-database.js';
import { withDatabaseNamed } from './database-unavailable.js';
import type { Operators } from './operator-command.js';
import { type Openers, replyOf, runCommand } from './run-command.js';

/** Nothing listens on this port. */
const AWAY = 'postgresql://gateway:s3cret@127.0.0.1:1/books';
const OWNER = 'postgresql://owner:s3cret@db.example/books';
const REFUSED =
  'The database did not answer within 1 seconds (connect ECONNREFUSED 127.0.0.1:1): start the database of';

const connect = () =>
  waitForDatabase(
    () => createDataSource({ url: AWAY }).initialize(),
    () => undefined,
    0,
  );
const told = (settings: { databaseUrl?: string; migrationDatabaseUrl?: string }) =>
  replyOf(async () => ({
    answer: await withDatabaseNamed(
      { databaseUrl: undefined, migrationDatabaseUrl: undefined, dataDir: '/data', ...settings },
      connect,
    ),
  }));

describe('a command whose database is away', () => {
  it('says in one sentence which database did not answer and what to do, without a password', async () => {
    expect(await told({ databaseUrl: AWAY })).toEqual({
      error: `${REFUSED} DATABASE_URL (127.0.0.1:1/books), or correct the setting, then run the command again.`,
    });
  });

  it('names every setting that it may be about', async () => {
    const two = { databaseUrl: AWAY, migrationDatabaseUrl: OWNER };
    expect(await told(two)).toEqual({
      error: `${REFUSED} DATABASE_URL (127.0.0.1:1/books) or MIGRATION_DATABASE_URL (db.example:5432/books), or correct the setting, then run the command again.`,
    });
    const socket = 'postgresql://gateway@localhost/books?host=/run/postgresql';
    expect(await told({ databaseUrl: socket })).toMatchObject({
      error: expect.stringContaining('DATABASE_URL (/run/postgresql:5432/books)'),
    });
    expect(await told({})).toMatchObject({
      error: expect.stringContaining('DATA_DIR (/data)'),
    });
  });
});

describe('a command under which the database goes away', () => {
  it('says so, and what to do', async () => {
    const database = await createTestDatabase();
    const proxy = await startDatabaseProxy(database.url);
    const dataSource = createDataSource({ url: proxy.through(database.url) });
    await dataSource.initialize();
    await proxy.cut();
    const driven = { actions: new OperatorActions(dataSource, new SystemClock()) } as Operators;
    const open = { operators: (work: (it: Operators) => Promise<unknown>) => work(driven) };
    const replyTo = (name: string, ...words: string[]) =>
      runCommand({ name, words, options: {}, actor: 'cli:ada' }, open as Openers);
    expect(await replyTo('actions')).toEqual({
      error: expect.stringMatching(
        /^The database cannot be reached now \(.+\)\. Run the command again when it answers\.$/,
      ),
    });
    expect(await replyTo('account:create', 'Acme')).toEqual({
      error: expect.stringMatching(
        /^The database cannot be reached now \(.+\)\. See by actions and ledger what was done before you run the command again\.$/,
      ),
    });
    await dataSource.destroy();
    await proxy.stop();
    await database.drop();
  });
});
