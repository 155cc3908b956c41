import { Link, useParams } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { count } from '../shared/money.js';
import { Empty, Figures, Money, Panel, RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, Table } from '../shared/table.js';
import { duration } from '../shared/time.js';
import { PauseAct, Probe, type Target } from './provider-acts.js';
import {
  Breakers,
  Errors,
  FIGURE_COLUMNS,
  failedOf,
  Paused,
  READ_PROVIDERS,
  Served,
  wordsOfKeys,
} from './provider-parts.js';

type Provider = Shape<'ProviderView'>;
type Route = Shape<'ProviderRouteView'>;

const COLUMNS: readonly Column<Route>[] = [
  {
    head: 'Its model',
    cell: ({ upstream_model: model }) => <span class="mono">{model}</span>,
  },
  { head: 'Sold as', cell: ({ models }) => <Models of={models} /> },
  ...FIGURE_COLUMNS,
  { head: 'Breakers', cell: (route) => <Breakers of={[route]} /> },
  { head: 'Paused', cell: ({ paused }) => <Paused of={paused} /> },
];

function Models({ of }: { readonly of: readonly string[] }) {
  return (
    <ul class="plain-list">
      {of.map((model) => (
        <li>
          <Link href={`/calls?model=${encodeURIComponent(model)}`}>{model}</Link>
        </li>
      ))}
    </ul>
  );
}

/** One provider with its routes. */
export default function ProviderScreen() {
  const { id } = useParams<{ id: string }>();
  const { data, error } = useAnswer(
    ['providers'],
    () => api.GET('/admin/providers'),
    READ_PROVIDERS,
  );
  const provider = data?.data.find((one) => one.id === id);
  if (data === undefined) return <Unshown title={id} error={error} />;
  if (provider === undefined) return <NoSuch id={id} />;
  return <Shown of={provider} />;
}

function NoSuch({ id }: { readonly id: string }) {
  return (
    <>
      <ScreenHead title={id} answers="No provider has this id." />
      <Empty>
        <Link href="/providers">All providers</Link>
      </Empty>
    </>
  );
}

function Shown({ of: provider }: { readonly of: Provider }) {
  const target: Target = { provider: provider.id, route: null, paused: provider.paused };
  return (
    <>
      <ScreenHead
        title={provider.id}
        answers={
          <>
            Does this provider answer, and what does it cost? Its work is done by{' '}
            <Served by={provider.served_by} />
          </>
        }
      >
        <PauseAct of={target} />
        <Probe of={target} />
      </ScreenHead>
      {provider.paused !== null && (
        <div class="notice wait">
          <Paused of={provider.paused} />
        </div>
      )}
      <Unkeyed of={provider} />
      <Sums of={provider} />
      <Panel title="Routes">
        <Routes of={provider} />
      </Panel>
      <RawJson value={provider} />
    </>
  );
}

function Unkeyed({ of: { served_by: by, keys } }: { readonly of: Provider }) {
  if (by === 'provider' || keys.variable === null) return null;
  return (
    <div class="panel">
      <Empty command={`${keys.variable}=… npm start`}>
        {by === 'sandbox'
          ? 'The sandbox does its work: nothing is bought. Its key makes the work real:'
          : 'Its key is not set, so that its routes are passed over. Set the variable:'}
      </Empty>
    </div>
  );
}

function Sums({ of: provider }: { readonly of: Provider }) {
  return (
    <Figures
      of={[
        ['Attempts of the last hour', count(provider.attempts)],
        ['Failed', count(failedOf(provider)), <Errors of={provider} />],
        [
          'Half took at most',
          duration(provider.latency_p50_ms),
          `99 % at most ${duration(provider.latency_p99_ms)}`,
        ],
        ['Calls today', count(provider.calls_today), 'Of UTC, tasks included'],
        ['Charged today', <Money microUsd={provider.charged_today_microusd} />],
        ['Cost today', <Money microUsd={provider.cost_today_microusd} />, 'As far as it is known'],
        [
          'Keys',
          provider.keys.variable === null ? 'takes none' : wordsOfKeys(provider.keys.count),
          <span class="mono">{provider.keys.variable}</span>,
        ],
      ]}
    />
  );
}

function Routes({ of: { id, routes } }: { readonly of: Provider }) {
  const mayAct = useMay('admin');
  if (routes.length === 0) {
    return <p class="soft">No model that is sold has a route to this provider.</p>;
  }
  const acts: Column<Route> = {
    head: 'Acts',
    cell: ({ upstream_model: route, paused }) => (
      <div class="acts">
        <PauseAct of={{ provider: id, route, paused }} />
        <Probe of={{ provider: id, route, paused }} />
      </div>
    ),
  };
  return (
    <Table
      name="Routes"
      columns={mayAct ? [...COLUMNS, acts] : COLUMNS}
      rows={routes}
      keyOf={({ upstream_model: model }) => model}
    />
  );
}
