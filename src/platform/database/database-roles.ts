import pg from 'pg';
import type { QueryRunner } from 'typeorm';
import { databaseUrlsOf } from '../../common/database-urls.js';
import { isPlainPassword, scramVerifier } from '../../common/secrets/scram-verifier.js';
import { createDataSource, maintenanceConnectionOf } from './data-source.js';
import { sqlStateOf } from './database-errors.js';
import type { Pooler } from './pooler.js';
import { SCHEMA_LOCK } from './run-migrations.js';
import { grantsOf } from './schema-files.js';
import { SESSION_SETTINGS } from './session-settings.js';

const INSUFFICIENT_PRIVILEGE = '42501';
/** Memberships that a role may have: they show figures of the server and no rows, or are how a role logs in at a cloud. */
const HARMLESS = `'{pg_monitor,pg_read_all_settings,pg_read_all_stats,pg_stat_scan_tables,rds_iam,cloudsqliamuser,cloudsqliamserviceaccount}'::text[]`;
const STATE = `
  SELECT r.rolsuper AS is_super, r.rolcanlogin AS can_login,
         r.rolcreatedb OR r.rolcreaterole OR r.rolreplication OR r.rolbypassrls AS has_powers,
         (SELECT count(*)::int FROM pg_class c WHERE c.relowner = r.oid AND c.relnamespace = 'public'::regnamespace) AS owned,
         ARRAY(SELECT g.rolname::text FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
                WHERE m.member = r.oid AND g.rolname::text <> ALL (${HARMLESS})) AS groups
    FROM pg_roles r WHERE r.rolname = $1`;
const PLACE = `
  SELECT current_database() AS database, current_user AS owner, to_regclass('public.schema_migration') IS NOT NULL AS has_schema`;
const CREATORS = `
  SELECT rolname::text AS name FROM pg_roles
   WHERE rolname = ANY ($1) AND has_schema_privilege(rolname, 'public', 'CREATE')`;
/** The defaults that a role has in this database. */
const DEFAULTS = `
  SELECT unnest(s.setconfig) AS value FROM pg_db_role_setting s
   WHERE s.setrole = (SELECT oid FROM pg_roles WHERE rolname = $1)
     AND s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())`;
/** What a query of an analyst may not do to the gateway: write, or hold old versions of rows back for hours. */
const READER_DEFAULTS = [
  ['default_transaction_read_only', 'on'],
  ['statement_timeout', '5min'],
  ['idle_in_transaction_session_timeout', '1min'],
];
const POWERS = 'LOGIN NOCREATEDB NOCREATEROLE';

/** A role as a connection URL names it. */
export interface UrlRole {
  readonly name: string;
  /** Undefined: it connects without one, or the operator sets it. */
  readonly password: string | undefined;
}

/** What {@link makeRoles} works with. */
export interface RolesTerms {
  /** Of the owner of the tables, who needs `CREATEROLE`. */
  readonly ownerUrl: string;
  readonly pooler: Pooler;
  /** Of the gateway's processes. */
  readonly gateway: UrlRole;
  /** Absent: there is none. */
  readonly reader?: UrlRole;
  /** Roles that exist get the passwords of their URLs. New ones always do. */
  readonly setsPasswords: boolean;
  /** Nothing is changed. */
  readonly isTrial: boolean;
}

/** One role, and what became of it. */
export interface MadeRole {
  readonly name: string;
  readonly for: 'gateway' | 'reader';
  readonly existed: boolean;
  /** `none`: its URL has none. */
  readonly password: 'set' | 'unchanged' | 'none';
}

/** The roles, and the statements that were run or would be, without passwords. */
export interface MadeRoles {
  readonly roles: readonly MadeRole[];
  readonly statements: readonly string[];
  /** Whether the tables are there; if not, `migrate` gives the rights on them. */
  readonly hasSchema: boolean;
}

/** The roles cannot be made so. The message is for the operator. */
export class DatabaseRolesError extends Error {
  override readonly name = 'DatabaseRolesError';
}

/** The role that a URL connects as. Its name is empty where the URL has none. */
export function roleIn(databaseUrl: string): UrlRole {
  const url = new URL(databaseUrlsOf(databaseUrl).urls[0] ?? databaseUrl);
  // As the driver reads it: a parameter goes before the login of the URL.
  const part = (own: string, name: string): string =>
    url.searchParams.get(name) ?? decodeURIComponent(own);
  const password = part(url.password, 'password');
  return {
    name: part(url.username, 'user'),
    password: password === '' ? undefined : password,
  };
}

/**
 * Makes the roles beside the owner, or takes from existing ones what they may not have, in one transaction; may be repeated. Throws
 * {@link DatabaseRolesError} where a role cannot be one beside the owner.
 */
export async function makeRoles(terms: RolesTerms): Promise<MadeRoles> {
  const { ownerUrl: url, pooler, isTrial } = terms;
  const connection = maintenanceConnectionOf(createDataSource({ url, pooler, poolSize: 1 }));
  await connection.initialize();
  try {
    const runner = connection.createQueryRunner();
    await runner.startTransaction();
    await runner.query(SESSION_SETTINGS.patience);
    await runner.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    const plan = new RolesPlan(runner, terms.setsPasswords);
    const hasSchema = await plan.make(terms.gateway, terms.reader);
    if (!isTrial) {
      for (const { sql } of plan.steps) await runner.query(sql);
      await refuseCreators(runner, plan.roles);
      await runner.commitTransaction();
    }
    return { roles: plan.roles, statements: plan.steps.map(({ shown }) => shown), hasSchema };
  } catch (error) {
    throw refusalOf(error);
  } finally {
    await connection.destroy();
  }
}

/** Whoever may make objects beside the tables can make the functions of the owner call its own. */
async function refuseCreators(runner: QueryRunner, roles: readonly MadeRole[]): Promise<void> {
  const [creator] = (await runner.query(CREATORS, [roles.map(({ name }) => name)])) as {
    name: string;
  }[];
  if (creator === undefined) return;
  throw new DatabaseRolesError(
    `The role ${creator.name} may still make objects in the schema public: it owns the database, or the schema is another role's (then run this as that role: REVOKE CREATE ON SCHEMA public FROM PUBLIC). Nothing was changed.`,
  );
}

function refusalOf(error: unknown): unknown {
  if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) return error;
  const message = `The role of MIGRATION_DATABASE_URL may not do this (${(error as Error).message}); it needs CREATEROLE. Or run what --dry-run prints as a superuser, and set the passwords with \\password in psql. Nothing was changed.`;
  return new DatabaseRolesError(message, { cause: error });
}

/** Of the owner's functions only: those of an extension are a superuser's. */
const revokeFunctions = (name: string): string => `DO $$ DECLARE f regprocedure; BEGIN
  FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND pg_has_role(proowner, 'MEMBER') LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM %s', f, $role$${name}$role$);
  END LOOP;
END $$`;

interface Step {
  readonly sql: string;
  /** Without the verifier of a password. */
  readonly shown: string;
}

interface RoleState {
  readonly is_super: boolean;
  readonly can_login: boolean;
  readonly has_powers: boolean;
  readonly owned: number;
  readonly groups: readonly string[];
}

/** The statements that bring both roles to what they may do. */
class RolesPlan {
  readonly steps: Step[] = [];
  readonly roles: MadeRole[] = [];

  constructor(
    private readonly runner: QueryRunner,
    private readonly setsPasswords: boolean,
  ) {}

  /** Returns whether the tables are there. */
  async make(gateway: UrlRole, reader: UrlRole | undefined): Promise<boolean> {
    const [place] = (await this.runner.query(PLACE)) as {
      database: string;
      owner: string;
      has_schema: boolean;
    }[];
    const { database = '', owner = '', has_schema: hasSchema = false } = place ?? {};
    const names = [owner, gateway.name, ...(reader ? [reader.name] : [])];
    if (new Set(names).size < names.length) {
      throw new DatabaseRolesError(
        `The URLs must name different roles, but they name ${names.join(', ')}`,
      );
    }
    const base = pg.escapeIdentifier(database);
    this.add('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    await this.role('gateway', gateway);
    this.add(
      `GRANT CONNECT, TEMPORARY ON DATABASE ${base} TO ${pg.escapeIdentifier(gateway.name)}`,
    );
    if (hasSchema) this.rights('gateway', gateway);
    if (reader === undefined) return hasSchema;
    await this.role('reader', reader);
    await this.readerDefaults(reader.name, base);
    if (hasSchema) this.rights('reader', reader);
    return hasSchema;
  }

  /** What is set already is left alone: that needs no CREATEROLE. */
  private async readerDefaults(role: string, base: string): Promise<void> {
    const name = pg.escapeIdentifier(role);
    this.add(`GRANT CONNECT ON DATABASE ${base} TO ${name}`);
    const found = (await this.runner.query(DEFAULTS, [role])) as { value: string }[];
    for (const [setting, value] of READER_DEFAULTS) {
      if (found.some((row) => row.value === `${setting}=${value}`)) continue;
      this.add(`ALTER ROLE ${name} IN DATABASE ${base} SET ${setting} = '${value}'`);
    }
  }

  private add(sql: string, shown = sql): void {
    this.steps.push({ sql, shown });
  }

  private async role(kind: MadeRole['for'], role: UrlRole): Promise<void> {
    const [state] = (await this.runner.query(STATE, [role.name])) as RoleState[];
    if (state) this.repair(role.name, state);
    else this.add(`CREATE ROLE ${pg.escapeIdentifier(role.name)} ${POWERS}`);
    const gets = state === undefined || this.setsPasswords;
    if (role.password !== undefined && gets) this.setPassword(role.name, role.password);
    const password = role.password === undefined ? 'none' : gets ? 'set' : 'unchanged';
    this.roles.push({ name: role.name, for: kind, existed: state !== undefined, password });
  }

  private repair(role: string, state: RoleState): void {
    if (state.is_super) {
      throw new DatabaseRolesError(`The role ${role} is a superuser: name another one`);
    }
    if (state.owned > 0) {
      throw new DatabaseRolesError(
        `The role ${role} owns ${state.owned} tables, indexes and the like, so it has every right on them: give them to the owner first (REASSIGN OWNED BY)`,
      );
    }
    const name = pg.escapeIdentifier(role);
    if (state.has_powers) {
      this.add(`ALTER ROLE ${name} ${POWERS} NOREPLICATION NOBYPASSRLS`);
    } else if (!state.can_login) this.add(`ALTER ROLE ${name} LOGIN`);
    for (const group of state.groups) this.add(`REVOKE ${pg.escapeIdentifier(group)} FROM ${name}`);
  }

  private setPassword(role: string, password: string): void {
    if (!isPlainPassword(password)) {
      throw new DatabaseRolesError(
        `The password of ${role} has characters beyond ASCII: leave it out of the URL and set it with \\password in psql`,
      );
    }
    const name = pg.escapeIdentifier(role);
    const verifier = pg.escapeLiteral(scramVerifier(password));
    // Who runs what is shown must not give everybody's role the same password.
    this.add(`ALTER ROLE ${name} PASSWORD ${verifier}`, `-- in psql: \\password ${name}`);
  }

  /** First takes everything, so that a right of another hand does not stay. Nobody sees what is between. */
  private rights(kind: MadeRole['for'], { name: role }: UrlRole): void {
    const name = pg.escapeIdentifier(role);
    for (const what of ['TABLES', 'SEQUENCES']) {
      this.add(`REVOKE ALL ON ALL ${what} IN SCHEMA public FROM ${name}`);
    }
    this.add(revokeFunctions(name));
    this.add(`REVOKE CREATE ON SCHEMA public FROM ${name}`);
    this.add(grantsOf(kind, name).trim());
  }
}
