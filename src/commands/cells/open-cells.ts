import { isTaskCommand } from '../command-declarations.js';
import type { GatewayConfig } from '../../platform/config/gateway-config.js';
import { ConfigError } from '../../platform/config/load-config.js';
import { databasePlace, withDatabaseNamed } from '../database-unavailable.js';
import { withOperators, withTasks } from '../open-operators.js';
import type { OperatorReply, OperatorRequest } from '../operator-request.js';
import { runCommand } from '../run-command.js';

/** Most cells that one command asks. */
const MAX_CELLS = 64;

/** A cell that answers commands. */
export interface Cell {
  /** `host:port/database`. */
  readonly name: string;
  readonly ask: (request: OperatorRequest) => Promise<OperatorReply>;
}

/**
 * Opens the databases of several cells, does the work and closes them. `urls` are separated by commas. The command line of
 * this machine asks each database itself: the gateways of a cell may run anywhere. Throws {@link ConfigError} for a text that
 * is no such list, and DatabaseUnavailableError for a database that is away.
 */
export function withCells<T>(
  urls: string,
  request: OperatorRequest,
  config: GatewayConfig,
  work: (cells: readonly Cell[]) => Promise<T>,
): Promise<T> {
  const cells = cellsOf(urls);
  const open = async (opened: readonly Cell[]): Promise<T> => {
    const next = cells[opened.length];
    if (next === undefined) return work(opened);
    const settings = { ...config, databaseUrl: next.url, migrationDatabaseUrl: undefined };
    const goOn = (ask: Cell['ask']) => open([...opened, { name: next.name, ask }]);
    return withDatabaseNamed(settings, () => withServices(request.name, settings, goOn));
  };
  return open([]);
}

function withServices<T>(
  command: string,
  config: GatewayConfig,
  work: (ask: Cell['ask']) => Promise<T>,
): Promise<T> {
  const never = () => Promise.reject(new Error('There are no such services for this command'));
  const others = { operators: never, tasks: never, print: never };
  if (isTaskCommand(command)) {
    return withTasks(
      (services) =>
        work((request) => runCommand(request, { ...others, tasks: (own) => own(services) })),
      config,
    );
  }
  return withOperators(
    (services) =>
      work((request) => runCommand(request, { ...others, operators: (own) => own(services) })),
    config,
  );
}

/** The URL of one cell may have commas too, between its hosts. */
const BETWEEN_URLS = /,(?=postgres(?:ql)?:\/\/)/;

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
    return databasePlace(url);
  } catch {
    throw problem(
      'must be URLs of PostgreSQL with commas between, one for each cell, such as postgres://shim@db1/shim,postgres://shim@db7/shim',
    );
  }
}

const problem = (sentence: string) => new ConfigError([`--cells ${sentence}.`]);
