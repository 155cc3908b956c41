import type { DataSource } from 'typeorm';
import type { GatewayConfig } from '../../platform/config/gateway-config.js';
import { ConfigError } from '../../platform/config/load-config.js';
import { databasePlace, withDatabaseNamed } from '../database-unavailable.js';
import { withOperators } from '../open-operators.js';
import type { OperatorReply, OperatorRequest } from '../operator-request.js';
import { runCommand } from '../run-command.js';

/** Most cells that one command asks. */
const MAX_CELLS = 64;

/**
 * Tells the databases of all servers apart, whatever they are called. Not the id of the cell: it is there only once it was asked for,
 * and whoever only reads cannot make it.
 */
const WHICH_DATABASE = `
  SELECT extract(epoch FROM pg_postmaster_start_time()) || ' ' || oid AS id FROM pg_database WHERE datname = current_database()`;

/** A cell that answers commands. */
export interface AskedCell {
  /** `host:port/database`. */
  readonly name: string;
  readonly ask: (request: OperatorRequest) => Promise<OperatorReply>;
}

/** A cell whose database is open. */
interface OpenCell extends AskedCell {
  readonly databaseId: string;
}

/**
 * Opens the databases of several cells, does the work and closes them. `urls` are separated by commas. The command line of
 * this machine asks each database itself: the gateways of a cell may run anywhere. Throws {@link ConfigError} for a text that
 * is no such list and for two names of one database, and DatabaseUnavailableError for a database that is away.
 */
export function withCells<T>(
  urls: string,
  config: GatewayConfig,
  work: (cells: readonly AskedCell[]) => Promise<T>,
): Promise<T> {
  const cells = cellsOf(urls);
  const open = async (opened: readonly OpenCell[]): Promise<T> => {
    const next = cells[opened.length];
    if (next === undefined) return work(opened);
    // It reads: an empty database is no cell and gets no schema.
    const databases = { databaseUrl: next.url, migrationDatabaseUrl: undefined };
    const settings = { ...config, ...databases, migrate: 'off' } as const;
    const goOn = (ask: AskedCell['ask'], databaseId: string): Promise<T> => {
      const same = opened.find((cell) => cell.databaseId === databaseId);
      if (same !== undefined) throw problem(`names one database twice: ${same.name}, ${next.name}`);
      return open([...opened, { name: next.name, ask, databaseId }]);
    };
    return withDatabaseNamed(settings, () => withServices(settings, goOn));
  };
  return open([]);
}

/** Commands about tasks are not asked: their services are those of the whole gateway, which begins to work. */
function withServices<T>(
  config: GatewayConfig,
  work: (ask: AskedCell['ask'], databaseId: string) => Promise<T>,
): Promise<T> {
  const never = () => Promise.reject(new Error('There are no such services for this command'));
  return withOperators(async (services, dataSource) => {
    const ask = (request: OperatorRequest): Promise<OperatorReply> =>
      runCommand(request, {
        operators: (own) => own(services),
        tasks: never,
        print: never,
      });
    return work(ask, await databaseIdOf(dataSource));
  }, config);
}

async function databaseIdOf(dataSource: DataSource): Promise<string> {
  const [row] = await dataSource.query<{ id: string }[]>(WHICH_DATABASE);
  if (row === undefined) throw new Error('The database does not tell which one it is');
  return row.id;
}

/** The URL of one cell may have commas too, between its hosts. */
const BETWEEN_URLS = /,\s*(?=postgres(?:ql)?:\/\/)/;
/** The path of anything else, such as of two URLs with another sign between them, may have a password. */
const NAME_OF_DATABASE = /^\/[\w.-]+$/;

function cellsOf(text: string): { readonly url: string; readonly name: string }[] {
  const cells = text.split(BETWEEN_URLS).map((url) => ({ url, name: nameOf(url) }));
  if (cells.length > MAX_CELLS) throw problem(`takes at most ${MAX_CELLS} cells`);
  const twice = cells.find(({ name }, index) => cells.some((c, i) => c.name === name && i < index));
  if (twice !== undefined) throw problem(`names ${twice.name} twice`);
  return cells;
}

/** Throws {@link ConfigError} without the text, which may have a password. */
function nameOf(url: string): string {
  try {
    if (NAME_OF_DATABASE.test(new URL(url).pathname)) return databasePlace(url);
  } catch {
    // The sentence below says it.
  }
  throw problem(
    'must be URLs of PostgreSQL with commas between, one for each cell, such as postgres://shim@db1/shim,postgres://shim@db7/shim',
  );
}

const problem = (sentence: string) => new ConfigError([`--cells ${sentence}.`]);
