import type { UsageRow } from '../billing/usage/usage-reports.js';
import type { ModelRow } from '../catalog/model-row.js';
import type { BreakerState } from '../providers/routing/circuit-breaker.js';
import {
  type AttemptCounts,
  summedCounts,
  type RouteFigure,
} from '../providers/routing/route-figures.js';
import { type KeyFigure, SANDBOX_NAME } from '../providers/routing/provider-registry.js';
import type { RoutePause } from '../providers/routing/route-pause-store.js';
import type { RouteReport } from '../providers/routing/route-reports.js';

/** The worst state of several processes is that of all. */
const STATES: readonly BreakerState[] = ['closed', 'half_open', 'open'];

/** Sums of today, in micro-USD. */
export interface DaySums {
  readonly calls: bigint;
  readonly charged: bigint;
  readonly cost: bigint;
}

/** One operation of a route. */
interface OperationHealth {
  readonly operation: string;
  readonly breaker: BreakerState;
  /** Processes whose breaker is not closed. */
  readonly openIn: number;
}

/** One model of a provider. */
export interface RouteHealth {
  readonly upstreamModel: string;
  /** Models of the catalog that have it. */
  readonly models: readonly string[];
  readonly operations: readonly OperationHealth[];
  readonly attempts: AttemptCounts;
  readonly today: DaySums;
  readonly pause: RoutePause | null;
}

/** One key of a provider, in all processes. */
interface KeyHealth extends KeyFigure {
  /** Processes in which it comes last. */
  readonly refusedIn: number;
}

/** One provider with its routes. */
export interface ProviderHealth {
  readonly id: string;
  readonly protocol: string | null;
  /** Who does its work; nobody where no process has a key for it. */
  readonly servedBy: 'provider' | 'sandbox' | null;
  readonly keyVariable: string | null;
  /** How many keys it has; null where no process told. */
  readonly keys: number | null;
  readonly keyFigures: readonly KeyHealth[];
  readonly attempts: AttemptCounts;
  readonly today: DaySums;
  readonly pause: RoutePause | null;
  readonly routes: readonly RouteHealth[];
}

/** What is known of providers, from the catalog, the processes and the database. */
interface KnownOfProviders {
  readonly rows: readonly ModelRow[];
  readonly builtIn: readonly {
    readonly id: string;
    readonly protocol: string;
    readonly variable: string;
  }[];
  readonly reports: readonly RouteReport[];
  readonly pauses: readonly RoutePause[];
  readonly today: readonly UsageRow[];
}

/** The providers by their ids, each with its routes in the order of their names. */
export function providerHealthOf(known: KnownOfProviders): ProviderHealth[] {
  const { rows, builtIn, reports } = known;
  const ids = new Set([
    ...builtIn.map(({ id }) => id),
    ...rows.flatMap(({ routes }) => routes.map(({ provider }) => provider)),
    ...reports.flatMap(({ providers }) => providers.map(({ id }) => id)),
  ]);
  return [...ids].sort().map((id) => providerOf(id, known));
}

function providerOf(id: string, known: KnownOfProviders): ProviderHealth {
  const told = known.reports.flatMap(({ providers }) => providers.filter((each) => each.id === id));
  // While processes are replaced, the one with most keys tells.
  const [best] = told.sort((a, b) => b.count - a.count);
  const builtIn = known.builtIn.find((each) => each.id === id);
  const isSandbox = best?.isSandbox === true;
  const figures = known.reports.flatMap(({ routes }) =>
    routes.filter(({ provider }) => provider === id),
  );
  const sold = soldRoutes(id, known.rows);
  const names = new Set([...sold.keys(), ...figures.map(({ upstreamModel }) => upstreamModel)]);
  const usedAs = isSandbox ? [SANDBOX_NAME, id] : [id];
  const routes = [...names].sort().map((upstreamModel): RouteHealth => {
    const { models = [], operations = [] } = sold.get(upstreamModel) ?? {};
    const own = figures.filter((figure) => figure.upstreamModel === upstreamModel);
    return {
      upstreamModel,
      models,
      operations: operationsOf(id, [...new Set([...operations, ...own.map(operationOf)])], known),
      attempts: summedCounts(own),
      today: sumsOf(known.today, usedAs, upstreamModel),
      pause: pauseOf(known, id, upstreamModel),
    };
  });
  return {
    id,
    ...identityOf(best, builtIn),
    keyFigures: keysOf(told),
    attempts: summedCounts(figures),
    today: added(routes.map(({ today }) => today)),
    pause: pauseOf(known, id, null),
    routes,
  };
}

/** How a provider is reached: as the process with most keys tells, else as the catalog names it. */
function identityOf(
  best: KnownOfProviders['reports'][number]['providers'][number] | undefined,
  builtIn: KnownOfProviders['builtIn'][number] | undefined,
) {
  const named = { protocol: builtIn?.protocol ?? null, keyVariable: builtIn?.variable ?? null };
  if (best === undefined) return { ...named, servedBy: null, keys: null };
  const { protocol, variable, isSandbox, count } = best;
  return {
    protocol,
    keyVariable: variable ?? named.keyVariable,
    servedBy: isSandbox ? ('sandbox' as const) : ('provider' as const),
    keys: count,
  };
}

/** The keys of a provider, as the processes tell of those of one number: while processes are replaced there may be more than one. */
function keysOf(told: KnownOfProviders['reports'][number]['providers']): KeyHealth[] {
  const all = told.flatMap(({ keys = [] }) => keys);
  const names = [...new Set(all.map(({ name }) => name))];
  return names.map((name) => {
    const own = all.filter((key) => key.name === name);
    const refused = own.flatMap(({ refusedAs }) => refusedAs ?? []);
    const sum = (count: (key: KeyFigure) => number) =>
      own.reduce((total, key) => total + count(key), 0);
    return {
      name,
      refusedAs: refused.find((kind) => kind === 'account') ?? refused[0] ?? null,
      refusedIn: refused.length,
      running: sum(({ running }) => running),
      lastMinute: sum(({ lastMinute }) => lastMinute),
      limits: own.at(-1)?.limits ?? {},
    };
  });
}

const operationOf = ({ operation }: RouteFigure): string => operation;

/** The routes of a provider that models have, by their names. */
function soldRoutes(provider: string, rows: readonly ModelRow[]) {
  const sold = new Map<string, { models: string[]; operations: string[] }>();
  for (const { id, operation, routes } of rows) {
    for (const route of routes) {
      if (route.provider !== provider) continue;
      const { models, operations } = sold.get(route.upstreamModel) ?? {
        models: [],
        operations: [],
      };
      sold.set(route.upstreamModel, {
        models: [...models, id],
        operations: [...new Set([...operations, operation])],
      });
    }
  }
  return sold;
}

function operationsOf(
  provider: string,
  operations: readonly string[],
  { reports }: KnownOfProviders,
): OperationHealth[] {
  return operations.map((operation) => {
    const states = reports.flatMap(({ breakers }) =>
      breakers
        .filter((breaker) => breaker.provider === provider && breaker.operation === operation)
        .map(({ state }) => STATES.indexOf(state)),
    );
    const breaker = STATES[Math.max(0, ...states)] ?? 'closed';
    return { operation, breaker, openIn: states.length };
  });
}

const pauseOf = ({ pauses }: KnownOfProviders, provider: string, upstreamModel: string | null) =>
  pauses.find((pause) => pause.provider === provider && pause.upstreamModel === upstreamModel) ??
  null;

function sumsOf(
  rows: readonly UsageRow[],
  providers: readonly string[],
  upstreamModel: string,
): DaySums {
  const own = rows.filter(
    ({ provider = '', upstream_model: name }) =>
      providers.includes(provider) && name === upstreamModel,
  );
  return added(
    own.map(({ calls, charged, cost }) => ({
      calls: BigInt(calls),
      charged: BigInt(charged),
      cost: BigInt(cost),
    })),
  );
}

const added = (sums: readonly DaySums[]): DaySums =>
  sums.reduce(
    (sum, { calls, charged, cost }) => ({
      calls: sum.calls + calls,
      charged: sum.charged + charged,
      cost: sum.cost + cost,
    }),
    { calls: 0n, charged: 0n, cost: 0n },
  );
