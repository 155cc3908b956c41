import type { Route } from '../providers/ports/route.js';
import type { Operation } from '../providers/ports/operation.js';
import type { ModelRow } from './model-row.js';

/** Whether a route can run an operation now: adapter exists, has the capability, is configured. */
export type RouteCheck = (route: Route, operation: Operation) => boolean;

interface Checked {
  readonly rows: ReadonlyMap<string, ModelRow>;
  readonly runnable: ReadonlyMap<string, readonly Route[]>;
}

/**
 * The models the gateway sells. Rows are checked once, at boot or when they are replaced: a model of which no route can run
 * is known but not listed, and answers 503 `no_eligible_route` (architecture: Catalog).
 */
export class Catalog {
  private checked: Checked;

  constructor(
    rows: readonly ModelRow[],
    private readonly canRun: RouteCheck,
  ) {
    this.checked = this.check(rows);
  }

  /** From now on these are the models, all at once. Calls that were admitted keep the row they were admitted with. */
  replace(rows: readonly ModelRow[]): void {
    this.checked = this.check(rows);
  }

  /** The row of an enabled model; undefined for unknown and disabled ids. */
  find(id: string): ModelRow | undefined {
    return this.checked.rows.get(id);
  }

  /** The routes of a model that can run, in order of preference; empty where none can. */
  routesOf(id: string): readonly Route[] {
    return this.checked.runnable.get(id) ?? [];
  }

  /** Models that can run, in listing order. */
  list(): ModelRow[] {
    return [...this.checked.rows.values()].filter((row) => this.routesOf(row.id).length > 0);
  }

  /** Enabled models that cannot run, for the log at boot. */
  idle(): ModelRow[] {
    return [...this.checked.rows.values()].filter((row) => this.routesOf(row.id).length === 0);
  }

  private check(rows: readonly ModelRow[]): Checked {
    const enabled = rows.filter((row) => row.enabled);
    return {
      rows: new Map(enabled.map((row) => [row.id, row])),
      runnable: new Map(
        enabled.map((row) => [
          row.id,
          row.routes.filter((route) => this.canRun(route, row.operation)),
        ]),
      ),
    };
  }
}
