import type { ComponentChildren } from 'preact';
import type { Shape } from '../shared/api.js';
import { count } from '../shared/money.js';
import { Badge, Money } from '../shared/parts.js';
import type { Column } from '../shared/table.js';
import { duration, When } from '../shared/time.js';

type Provider = Shape<'ProviderView'>;
type Route = Shape<'ProviderRouteView'>;
type Figures = Pick<
  Provider,
  | 'attempts'
  | 'errors'
  | 'latency_p50_ms'
  | 'latency_p99_ms'
  | 'calls_today'
  | 'charged_today_microusd'
  | 'cost_today_microusd'
>;
type Pause = NonNullable<Provider['paused']>;

/** What is asked for while a screen of providers is open: processes tell theirs every ten seconds. */
export const READ_PROVIDERS = { everyMs: 10_000 };

const SERVED = {
  provider: ['good', 'itself'],
  sandbox: ['wait', 'the sandbox'],
  nobody: ['plain', 'nobody'],
} as const;

/** Who does the work of a provider. */
export function Served({ by }: { readonly by: Provider['served_by'] }) {
  const [tone, words] = SERVED[by ?? 'nobody'];
  return <Badge tone={tone} state={words} />;
}

/** How many keys a provider has. */
export const wordsOfKeys = (keys: number | null): string =>
  keys === null || keys === 0 ? 'not set' : `${count(keys)} set`;

/** The keys of a provider, by the variable that holds them. */
export function ProviderKeys({ of: { variable, count: keys } }: { readonly of: Provider['keys'] }) {
  if (variable === null) return <>takes none</>;
  return (
    <span class="pair">
      <span class="mono">{variable}</span> <small>{wordsOfKeys(keys)}</small>
    </span>
  );
}

/** How many failed in all. */
export const failedOf = ({ errors }: Pick<Figures, 'errors'>): number =>
  Object.values(errors).reduce((sum, times) => sum + times, 0);

/** The failed attempts by kind, the most frequent first: "12 rate limited". */
export function Errors({ of }: { readonly of: Pick<Figures, 'errors'> }) {
  const kinds = Object.entries(of.errors).toSorted(([, one], [, other]) => other - one);
  if (kinds.length === 0) return <span class="soft">none</span>;
  return (
    <span class="row">
      {kinds.map(([kind, times]) => (
        <Badge tone="bad" state={`${count(times)} ${kind}`} />
      ))}
    </span>
  );
}

const BREAKERS = { closed: 'closed', half_open: 'half open', open: 'open' } as const;

/** The breakers of routes that are not closed, by operation. */
export function Breakers({ of: routes }: { readonly of: readonly Pick<Route, 'operations'>[] }) {
  const open = routes
    .flatMap(({ operations }) => operations)
    .filter(({ breaker }) => breaker !== 'closed');
  if (open.length === 0) return <span class="soft">closed</span>;
  return (
    <span class="row">
      {open.map(({ operation, breaker, open_in_processes: processes }) => (
        <Badge
          tone={breaker === 'open' ? 'bad' : 'wait'}
          state={`${operation} ${BREAKERS[breaker]}${processes > 1 ? ` in ${count(processes)} processes` : ''}`}
        />
      ))}
    </span>
  );
}

/** That a provider or route is paused, until when, by whom and why. */
export function Paused({ of: pause }: { readonly of: Pause | null }) {
  if (pause === null) return <span class="soft">no</span>;
  return (
    <div>
      <Badge tone="wait" state="paused" /> until <When at={pause.expires_at} />
      <p class="small">
        {pause.paused_by}: {pause.reason}
      </p>
    </div>
  );
}

/** Two figures of a kind, one below the other. */
function Pair(props: { readonly of: ComponentChildren; readonly below: ComponentChildren }) {
  return (
    <span class="pair">
      {props.of} <small>{props.below}</small>
    </span>
  );
}

/** What came of the attempts, and what was sold today. */
export const FIGURE_COLUMNS: readonly Column<Figures>[] = [
  { head: 'Attempts, 1 h', isNumber: true, cell: ({ attempts }) => count(attempts) },
  { head: 'Errors, 1 h', cell: (row) => <Errors of={row} /> },
  {
    head: 'p50, p99',
    isNumber: true,
    cell: ({ latency_p50_ms: half, latency_p99_ms: most }) => (
      <Pair of={duration(half)} below={duration(most)} />
    ),
  },
  { head: 'Calls today', isNumber: true, cell: ({ calls_today: calls }) => count(calls) },
  {
    head: 'Charged, cost today',
    isNumber: true,
    cell: ({ charged_today_microusd: charged, cost_today_microusd: cost }) => (
      <Pair of={<Money microUsd={charged} />} below={<Money microUsd={cost} />} />
    ),
  },
];
