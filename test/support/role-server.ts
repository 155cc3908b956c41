import { expect } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { query } from './embedded-gateways.js';
import { runBuilt, SECRET_KEY, temporaryFolder } from './process.js';

/** The SQLSTATE of a right that a role does not have. */
export const DENIED = { code: '42501' };
const PASSWORDS = { shim_owner: 'owner-0123', shim_run: 'run: 0123/%', shim_reader: 'read-0123' };
type Role = keyof typeof PASSWORDS;

/** A server of its own that asks every role but its superuser for a password, with the empty database of an owner who is no superuser. */
export class RoleServer {
  /** Of the gateway's processes. */
  readonly ofProcess: NodeJS.ProcessEnv;
  /** Of the job that migrates. */
  readonly ofJob: NodeJS.ProcessEnv;

  private constructor(
    private readonly server: EmbeddedPostgres,
    /** Of the superuser. */
    readonly adminUrl: string,
  ) {
    this.ofProcess = { DATABASE_URL: this.urlOf('shim_run'), SECRET_KEY };
    this.ofJob = {
      ...this.ofProcess,
      MIGRATION_DATABASE_URL: this.urlOf('shim_owner'),
      READER_DATABASE_URL: this.urlOf('shim_reader'),
    };
  }

  static async start(): Promise<RoleServer> {
    const dataDir = await temporaryFolder();
    const server = await EmbeddedPostgres.start({ dataDir });
    const owner = `CREATE ROLE shim_owner LOGIN CREATEROLE PASSWORD '${PASSWORDS.shim_owner}'`;
    await query(server.url, owner);
    await query(server.url, 'CREATE DATABASE books OWNER shim_owner');
    const hba = join(dataDir, 'postgres', 'pg_hba.conf');
    const trusted = await readFile(hba, 'utf8');
    await writeFile(hba, `local all shim trust\nlocal all all scram-sha-256\n${trusted}`);
    await query(server.url, 'SELECT pg_reload_conf()');
    const url = Object.assign(new URL(server.url), { pathname: '/books' });
    return new RoleServer(server, url.href);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  urlOf(role: Role): string {
    const password = encodeURIComponent(PASSWORDS[role]);
    return Object.assign(new URL(this.adminUrl), { username: role, password }).href;
  }

  /** The rows of a statement of this role. */
  as<Row = Record<string, unknown>>(role: Role, sql: string): Promise<Row[]> {
    return query(this.urlOf(role), sql) as Promise<Row[]>;
  }

  /** Runs a command; no password and no verifier may be in what it prints. */
  async cli(command: string, environment = this.ofJob) {
    const program = runBuilt('cli.js', command.split(' '), environment);
    const { code } = await program.exited;
    const [out, error] = [program.stdout(), program.stderr()];
    for (const password of Object.values(PASSWORDS)) expect(out + error).not.toContain(password);
    expect(out + error).not.toContain('SCRAM-SHA-256$');
    return { code, out, error };
  }

  /** The answer of a command that must succeed. */
  async made(command: string, environment = this.ofJob) {
    const { code, out, error } = await this.cli(command, environment);
    expect({ command, code, error: code === 0 ? '' : error }).toEqual({
      command,
      code: 0,
      error: '',
    });
    return JSON.parse(out) as { statements: string[]; roles: object[]; ok?: boolean };
  }

  /** Every right that a role has on a table, a column or a function. */
  rightsOf(role: Role) {
    return query(
      this.adminUrl,
      `SELECT c.relname AS name, '' AS part, x.privilege_type AS may FROM pg_class c, aclexplode(c.relacl) x
        WHERE x.grantee = '${role}'::regrole AND c.relnamespace = 'public'::regnamespace
       UNION ALL SELECT c.relname, a.attname, x.privilege_type
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) x
        WHERE x.grantee = '${role}'::regrole AND c.relnamespace = 'public'::regnamespace
       UNION ALL SELECT p.proname, '', x.privilege_type FROM pg_proc p, aclexplode(p.proacl) x
        WHERE x.grantee = '${role}'::regrole ORDER BY 1, 2, 3`,
    );
  }
}
