import { api, type Shape } from '../shared/api.js';
import { Empty, Id, Panel, RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { type Column, Table } from '../shared/table.js';
import { pageOfProvider } from './pages.js';
import {
  Breakers,
  FIGURE_COLUMNS,
  ProviderKeys,
  Paused,
  READ_PROVIDERS,
  Served,
} from './provider-parts.js';

type Provider = Shape<'ProviderView'>;

const COLUMNS: readonly Column<Provider>[] = [
  {
    head: 'Provider',
    cell: ({ id }) => <Id id={id} to={pageOfProvider(id)} />,
  },
  { head: 'Work is done by', cell: ({ served_by: by }) => <Served by={by} /> },
  ...FIGURE_COLUMNS,
  { head: 'Breakers', cell: ({ routes }) => <Breakers of={routes} /> },
  { head: 'Paused', cell: (provider) => <PausedParts of={provider} /> },
  { head: 'Keys', cell: ({ keys }) => <ProviderKeys of={keys} /> },
];

/** The pause of a provider, or how many of its routes are paused by themselves. */
function PausedParts({ of: { paused, routes } }: { readonly of: Provider }) {
  const alone = routes.filter((route) => route.paused !== null).length;
  if (paused !== null || alone === 0) return <Paused of={paused} />;
  return <>{alone === 1 ? '1 route' : `${alone} routes`}</>;
}

/** All providers: which one hurts now. */
export default function Providers() {
  const { data, error } = useAnswer(
    ['providers'],
    () => api.GET('/admin/providers'),
    READ_PROVIDERS,
  );
  if (data === undefined) return <Unshown title="Providers" error={error} />;
  return (
    <>
      <ScreenHead
        title="Providers"
        answers="Which provider hurts now? Attempts of the last hour in all processes; money of today (UTC)."
      />
      <Unset of={data.data} />
      <Panel title="All providers">
        <Table name="Providers" columns={COLUMNS} rows={data.data} />
      </Panel>
      <RawJson value={data} />
    </>
  );
}

/** What to set where no provider does its own work. */
function Unset({ of: providers }: { readonly of: readonly Provider[] }) {
  if (providers.some(({ served_by: by }) => by === 'provider')) return null;
  const isSandbox = providers.some(({ served_by: by }) => by === 'sandbox');
  const variable = providers.find(({ keys }) => keys.variable !== null)?.keys.variable;
  return (
    <div class="panel">
      <Empty command={`${variable ?? 'OPENAI_API_KEY'}=… npm start`}>
        {isSandbox
          ? 'Only the sandbox works here: nothing is bought. The key of a provider makes its work real:'
          : 'No provider has a key, so that no model can be called. Set the variable of one:'}
      </Empty>
    </div>
  );
}
