import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query } from '../support/embedded-gateways.js';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS } from '../support/process.js';
import { DENIED, RoleServer } from '../support/role-server.js';

let server: RoleServer;
beforeAll(async () => {
  server = await RoleServer.start();
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await server.stop();
  await cleanUp();
}, PROCESS_TEST_TIMEOUT_MS);

describe('database:roles', () => {
  it(
    'tells its statements and changes nothing with --dry-run',
    async () => {
      const { statements } = await server.made('database:roles --dry-run');
      expect(statements).toContain('CREATE ROLE "shim_run" LOGIN NOCREATEDB NOCREATEROLE');
      expect(statements).toContain('-- in psql: \\password "shim_run"');
      const roles = await query(
        server.adminUrl,
        `SELECT FROM pg_roles WHERE rolname IN ('shim_run', 'shim_reader')`,
      );
      expect(roles).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'makes both roles with the passwords of their URLs, as an owner who is no superuser',
    async () => {
      expect((await server.made('database:roles')).roles).toEqual([
        { name: 'shim_run', for: 'gateway', existed: false, password: 'set' },
        { name: 'shim_reader', for: 'reader', existed: false, password: 'set' },
      ]);
      expect(await server.made('migrate')).toMatchObject({ ok: true });
      for (const role of ['shim_run', 'shim_reader'] as const) {
        expect(await server.as(role, 'SELECT current_user')).toEqual([{ current_user: role }]);
        const wrong = new URL(server.urlOf(role));
        wrong.password = 'wrong';
        await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
      }
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'refuses a role that is the owner or a superuser',
    async () => {
      const owner = await server.cli('database:roles', {
        ...server.ofJob,
        DATABASE_URL: server.urlOf('shim_owner'),
      });
      expect(owner).toMatchObject({ code: 1 });
      expect(owner.error).toContain('The URLs must name different roles');
      const superuser = await server.cli('database:roles', {
        ...server.ofJob,
        DATABASE_URL: server.adminUrl,
      });
      expect(superuser.error).toContain('The role shim is a superuser');
      await query(
        server.adminUrl,
        'ALTER SCHEMA public OWNER TO shim; GRANT CREATE ON SCHEMA public TO PUBLIC',
      );
      const maker = await server.cli('database:roles');
      expect(maker.error).toContain('may still make objects in the schema public');
      await query(server.adminUrl, 'ALTER SCHEMA public OWNER TO pg_database_owner');
      await server.made('database:roles');
      const none = await server.cli('database:roles', server.ofProcess);
      expect(none.error).toContain('MIGRATION_DATABASE_URL must name the owner');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('a later migration', () => {
  it(
    'goes on without a reader that does not exist',
    async () => {
      const reader = new URL(server.urlOf('shim_reader'));
      reader.username = 'shim_nobody';
      const environment = { ...server.ofJob, READER_DATABASE_URL: reader.href };
      expect(await server.made('migrate', environment)).toMatchObject({ ok: true });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'gives the processes its new tables, functions and nothing else; the reader gets none',
    async () => {
      const before = await server.rightsOf('shim_reader');
      await server.as('shim_owner', 'CREATE TABLE later (id int)');
      await server.as(
        'shim_owner',
        `CREATE FUNCTION later_add() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO later VALUES (1)'`,
      );
      // Its functions are a superuser's, and one of them is not for everybody.
      await query(server.adminUrl, 'CREATE EXTENSION pg_stat_statements');
      await server.made('migrate');
      await query(server.adminUrl, 'DROP EXTENSION pg_stat_statements');
      expect(await server.as('shim_run', 'SELECT later_add(); ')).toHaveLength(1);
      expect(await server.as('shim_run', 'DELETE FROM later RETURNING id')).toEqual([{ id: 1 }]);
      for (const sql of ['SELECT * FROM later', 'SELECT later_add()']) {
        await expect(server.as('shim_reader', sql)).rejects.toMatchObject(DENIED);
      }
      expect(await server.rightsOf('shim_reader')).toEqual(before);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'is followed by a command that repairs what another hand gave, and that changes nothing when it is repeated',
    async () => {
      const before = [await server.rightsOf('shim_run'), await server.rightsOf('shim_reader')];
      await query(
        server.adminUrl,
        `GRANT ALL ON ALL TABLES IN SCHEMA public TO shim_run, shim_reader;
         ALTER ROLE shim_run CREATEDB; CREATE ROLE shim_power; GRANT shim_power TO shim_run; GRANT pg_read_all_data TO shim_reader;
         ALTER ROLE shim_reader PASSWORD 'forgotten'`,
      );
      const refused = await server.cli('database:roles', server.ofJob);
      expect(refused).toMatchObject({ code: 1 });
      expect(refused.error).toContain('may not do this');
      const bySuperuser = { ...server.ofJob, MIGRATION_DATABASE_URL: server.adminUrl };
      await server.made('database:roles --set-passwords', bySuperuser);
      await server.made('database:roles', server.ofJob);
      expect([await server.rightsOf('shim_run'), await server.rightsOf('shim_reader')]).toEqual(
        before,
      );
      await expect(server.as('shim_run', 'SET ROLE shim_power')).rejects.toMatchObject(DENIED);
      await expect(server.as('shim_reader', 'SELECT hash FROM api_key')).rejects.toMatchObject(
        DENIED,
      );
      await expect(server.as('shim_run', 'CREATE DATABASE more')).rejects.toMatchObject(DENIED);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
