import type { Route } from '../providers/ports/route.js';
import type { Operation } from '../providers/ports/operation.js';
import type { ModelRow } from './model-row.js';

/** Whether a route can run an operation now: adapter exists, has the capability, is configured. */
export type RouteCheck = (route: Route, operation: Operation) => boolean;

/**
 * The models the gateway sells. Rows are checked once, at boot: a model of which no route can run is known but not
 * listed, and answers 503 `no_eligible_route` (architecture: Catalog).
 */
export class Catalog {
  private readonly rows: ReadonlyMap<string, ModelRow>;
  private readonly runnable: ReadonlyMap<string, readonly Route[]>;

  constructor(rows: readonly ModelRow[], canRun: RouteCheck) {
    const enabled = rows.filter((row) => row.enabled);
    this.rows = new Map(enabled.map((row) => [row.id, row]));
    this.runnable = new Map(
      enabled.map((row) => [row.id, row.routes.filter((route) => canRun(route, row.operation))]),
    );
  }

  /** The row of an enabled model; undefined for unknown and disabled ids. */
  find(id: string): ModelRow | undefined {
    return this.rows.get(id);
  }

  /** The routes of a model that can run, in order of preference; empty where none can. */
  routesOf(id: string): readonly Route[] {
    return this.runnable.get(id) ?? [];
  }

  /** Models that can run, in listing order. */
  list(): ModelRow[] {
    return [...this.rows.values()].filter((row) => this.routesOf(row.id).length > 0);
  }

  /** Enabled models that cannot run, for the log at boot. */
  idle(): ModelRow[] {
    return [...this.rows.values()].filter((row) => this.routesOf(row.id).length === 0);
  }
}
