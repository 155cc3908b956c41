import type { Route, UpstreamTerms } from '../providers/ports/attempt.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import type { ModelRow } from './model-row.js';
import type { ReportedCost } from './reported-cost.js';
import type { CostedRoute } from './route-cost.js';
import type { ErrorCode } from '../common/errors/error-table.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { didYouMean } from '../common/nearest-name.js';

/** Whether a route can run an operation now: its provider is configured, and its adapter has the operation. */
export type RouteCheck = (route: Route, operation: Operation) => boolean;

interface Checked {
  readonly rows: ReadonlyMap<string, ModelRow>;
  readonly byAlias: ReadonlyMap<string, ModelRow>;
  readonly runnable: ReadonlyMap<string, readonly CostedRoute[]>;
  readonly enabled: readonly ModelRow[];
  readonly listed: readonly ModelRow[];
  readonly terms: ReadonlyMap<string, UpstreamTerms | undefined>;
  readonly music: readonly ModelRow<'composition'>[];
  readonly reportedCosts: ReadonlyMap<string, ReportedCost | undefined>;
}

/**
 * The models that the gateway sells. Rows are checked once, at the start or when they are replaced. A model without a
 * route that can run is known but not listed, and answers 503 `no_eligible_route` (API: Errors).
 */
export class Catalog {
  private checked: Checked;

  constructor(
    rows: readonly ModelRow[],
    private readonly canRun: RouteCheck,
  ) {
    this.checked = this.check(rows);
  }

  /** Replaces all models at once. Calls that were admitted before keep their row. */
  replace(rows: readonly ModelRow[]): void {
    this.checked = this.check(rows);
  }

  /** The row of an enabled model by its id or an alias; undefined for unknown and disabled ones. */
  find(id: string): ModelRow | undefined {
    return this.checked.rows.get(id) ?? this.checked.byAlias.get(id);
  }

  /** The routes of a model that can run, in order of preference; empty where none can. */
  routesOf(id: string): readonly CostedRoute[] {
    return this.checked.runnable.get(id) ?? [];
  }

  /** How the requests of a model differ, enabled or not: what began goes on. */
  termsOf(id: string): UpstreamTerms | undefined {
    return this.checked.terms.get(id);
  }

  /** The models of `/v1/audio/music`, enabled or not: what their prices count is the unit of what was made. */
  music(): readonly ModelRow<'composition'>[] {
    return this.checked.music;
  }

  /** How a provider's own figure of the cost is read. */
  reportedCostOf(provider: string): ReportedCost | undefined {
    return this.checked.reportedCosts.get(provider);
  }

  /** Models that can run, in the order of lists; the same list until the models are replaced. */
  list(): readonly ModelRow[] {
    return this.checked.listed;
  }

  /** All enabled models, whether they can run or not; the same list until the models are replaced. */
  enabled(): readonly ModelRow[] {
    return this.checked.enabled;
  }

  /** Enabled models that cannot run, for the log at the start. */
  idle(): ModelRow[] {
    return [...this.checked.rows.values()].filter((row) => this.routesOf(row.id).length === 0);
  }

  private check(rows: readonly ModelRow[]): Checked {
    const enabled = rows.filter((row) => row.enabled);
    const runnable = new Map(
      enabled.map((row) => [
        row.id,
        row.routes
          .filter((route) => this.canRun(route, row.operation))
          .map((route) => ({ ...route, terms: row.terms })),
      ]),
    );
    const byId = new Map(enabled.map((row) => [row.id, row]));
    return {
      rows: byId,
      byAlias: new Map(enabled.flatMap((row) => (row.aliases ?? []).map((name) => [name, row]))),
      enabled: [...byId.values()],
      listed: [...byId.values()].filter((row) => (runnable.get(row.id)?.length ?? 0) > 0),
      terms: new Map(rows.map((row) => [row.id, row.terms])),
      music: rows.filter((row) => row.operation === 'composition'),
      reportedCosts: new Map(
        rows.flatMap(({ routes }) =>
          routes.map(({ provider, reportedCost }) => [provider, reportedCost] as const),
        ),
      ),
      runnable,
    };
  }
}

/** The model as a caller named it, and the rows of those that the caller may use there. */
export interface UnknownModel {
  readonly name: string;
  readonly usable: readonly ModelRow[];
}

/**
 * The refusal of a model that does not exist, is disabled, or is hidden from the key: it names where the models are
 * listed, and the usable one whose name is near.
 */
export function unknownModel(
  code: ErrorCode,
  { name, usable }: UnknownModel = { name: '', usable: [] },
): GatewayError {
  const names = usable.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const message = `No such model; GET /v1/models lists the models of this key.${didYouMean(name, names)}`;
  return new GatewayError(code, message, { param: 'model' });
}
