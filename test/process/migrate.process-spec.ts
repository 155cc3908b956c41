import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/platform/database/data-source.js';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  startGatewayProgram,
} from '../support/process.js';
import { createEmptyDatabase, type EmptyDatabase } from '../support/test-database.js';

const ROLE = `shim_run_${randomUUID().replaceAll('-', '')}`;
const OFF = { MIGRATE: 'off' };
const CHANGED = '81-usage.functions.sql';

let database: EmptyDatabase;
let owner: DataSource;
let settings: NodeJS.ProcessEnv;
let ofOwner: NodeJS.ProcessEnv;
beforeAll(async () => {
  database = await createEmptyDatabase();
  owner = await createDataSource({ url: database.url, poolSize: 1 }).initialize();
  await owner.query(`CREATE ROLE ${ROLE} LOGIN`);
  const DATABASE_URL = Object.assign(new URL(database.url), { username: ROLE }).href;
  settings = { DATABASE_URL, SECRET_KEY };
  ofOwner = { ...settings, MIGRATION_DATABASE_URL: database.url };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await owner.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`);
  await owner.destroy();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

async function command(name: string, environment: NodeJS.ProcessEnv) {
  const program = runBuilt('cli.js', name.split(' '), environment);
  const { code } = await program.exited;
  return { code, out: program.stdout(), error: program.stderr() };
}
const answerOf = ({ out }: { readonly out: string }) =>
  JSON.parse(out) as { ok: boolean; changed: boolean; changes: string[] };
const hasTables = async (): Promise<boolean> => {
  const [row] = await owner.query<{ found: boolean }[]>(
    `SELECT to_regclass('account') IS NOT NULL AS found`,
  );
  return row?.found ?? false;
};
const spoil = () =>
  owner.query(
    `UPDATE schema_file SET checksum = 'of an older version', version = '0.0.1' WHERE name = '${CHANGED}'`,
  );

describe('the schema, where a job migrates', () => {
  it(
    'is not made by a start with MIGRATE=off, nor by a check or a dry run',
    async () => {
      const start = runBuilt('main.js', [], { ...settings, ...OFF, PORT: '0' });
      expect((await start.exited).code).toBe(1);
      expect(start.stderr()).toContain('Run the command `migrate` of this version');
      const check = await command('migrate --check', ofOwner);
      expect(check.code).toBe(1);
      expect(answerOf(check)).toMatchObject({ ok: false, changed: false });
      const trial = await command('migrate --dry-run', ofOwner);
      expect(trial.code).toBe(0);
      expect(answerOf(trial).changes).toEqual(answerOf(check).changes);
      expect(await hasTables()).toBe(false);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'is made by the command; a process then runs without the password of the owner',
    async () => {
      const made = await command('migrate', ofOwner);
      expect([made.code, made.error]).toEqual([0, '']);
      expect(answerOf(made)).toMatchObject({ ok: true, changed: true });
      expect(answerOf(await command('migrate --check', settings))).toEqual({
        ok: true,
        changed: false,
        changes: [],
      });
      const gateway = await startGatewayProgram({ ...settings, ...OFF });
      expect((await gateway.account()).accountId).toMatch(/^acct_/);
      expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'is never changed by another command, which says what is pending',
    async () => {
      await spoil();
      const read = await command('accounts', ofOwner);
      expect(read.code).toBe(1);
      expect(read.error).toContain(`it lacks ${CHANGED}`);
      expect(answerOf(await command('migrate --check', settings)).changes).toEqual([CHANGED]);
      expect((await command('migrate', ofOwner)).code).toBe(0);
      expect((await command('accounts', settings)).code).toBe(0);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
