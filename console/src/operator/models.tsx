import { api, type Shape } from '../shared/api.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { percent } from '../shared/money.js';
import {
  Badge,
  Empty,
  Id,
  Loading,
  Panel,
  Problem,
  ScreenHead,
  type Tone,
} from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, Table } from '../shared/table.js';
import { pageOfModel } from './pages.js';
import { PriceTabs } from './price-tabs.js';
import { leastMargin, shortPrice } from './price-parts.js';

type Model = Shape<'CatalogModelView'>;
type Source = Model['source'];

const SOURCES: Readonly<Record<Source, readonly [string, Tone]>> = {
  built_in: ['built in', 'plain'],
  changed: ['changed by the file', 'wait'],
  added: ['added by the file', 'good'],
};

const FILTERS: readonly Filter[] = [
  { name: 'name', label: 'Name has', placeholder: 'Any name' },
  { name: 'operation', label: 'Operation', placeholder: 'Any, such as chat' },
  { name: 'provider', label: 'Provider', placeholder: 'Any, such as openai' },
  {
    name: 'source',
    label: 'Row',
    choices: [
      ['', 'Any'],
      ['built_in', 'Built in'],
      ['changed', 'Changed by the file'],
      ['added', 'Added by the file'],
    ],
  },
];

/** Where the row of a model comes from. */
export function SourceBadge({ source }: { readonly source: Source }) {
  const [state, tone] = SOURCES[source];
  return <Badge state={state} tone={tone} />;
}

/** A price or a cost in short; a dash where none is known. */
export function ShortPrice({ of }: { readonly of: Model['price'] | null | undefined }) {
  if (of === null || of === undefined) return <span class="soft">–</span>;
  const [amounts, per] = shortPrice(of);
  return (
    <span class="when">
      {amounts} <small>per {per}</small>
    </span>
  );
}

/** A margin that may be a loss. */
export function MarginShare({ permille }: { readonly permille: bigint | undefined }) {
  if (permille === undefined) return <span class="soft">–</span>;
  return (
    <span class={permille < 0n ? 'number negative' : 'number'}>{percent(permille, 1_000)}</span>
  );
}

const costOf = ({ routes }: Model) => routes.find(({ cost }) => cost !== null)?.cost ?? undefined;

function marginOf(model: Model): bigint | undefined {
  const cost = costOf(model);
  return cost && leastMargin(model.price, cost);
}

const COLUMNS: readonly Column<Model>[] = [
  { head: 'Model', cell: ({ id }) => <Id id={id} to={pageOfModel(id)} /> },
  { head: 'Operation', cell: ({ operation }) => operation.replaceAll('_', ' ') },
  { head: 'Price', cell: ({ price }) => <ShortPrice of={price} /> },
  { head: 'Cost', cell: (model) => <ShortPrice of={costOf(model)} /> },
  {
    head: 'Least margin',
    isNumber: true,
    cell: (model) => <MarginShare permille={marginOf(model)} />,
  },
  { head: 'Providers', cell: Providers },
  { head: 'Row', cell: ({ source }) => <SourceBadge source={source} /> },
];

function Providers({ routes }: Model) {
  const names = [...new Set(routes.map(({ provider }) => provider))].join(', ');
  if (routes.some(({ can_run: canRun }) => canRun)) return names;
  return (
    <>
      {names} <Badge state="cannot run" tone="bad" />
    </>
  );
}

function isWanted(model: Model, filters: Readonly<Record<string, string>>): boolean {
  const { name = '', operation, provider, source } = filters;
  const names = [model.id, ...model.aliases].map((one) => one.toLowerCase());
  return (
    names.some((one) => one.includes(name.toLowerCase())) &&
    (operation === undefined || model.operation === operation) &&
    (source === undefined || model.source === source) &&
    (provider === undefined || model.routes.some((route) => route.provider === provider))
  );
}

/** What is sold, for how much, by whom. */
export default function Models() {
  const filters = useFilters(FILTERS);
  const seesCosts = useMay('finance');
  const { data, error } = useAnswer(['catalog'], () => api.GET('/admin/catalog'));
  const shown = data?.data.filter((model) => isWanted(model, filters));
  return (
    <>
      <ScreenHead
        title="Models and prices"
        answers="What is sold, for how much, and what does it cost us?"
      />
      <PriceTabs open="/models" />
      <Panel
        title="Models"
        aside={
          shown !== undefined && (
            <span class="soft">{shown.length === 1 ? '1 model' : `${shown.length} models`}</span>
          )
        }
      >
        <Filters of={FILTERS} name="Filters of models" />
        <p class="soft">
          {seesCosts
            ? 'A cost is what the file of CATALOG_FILE declares for the first route that has one.'
            : 'Your role does not see costs and margins.'}
        </p>
        {error !== null && <Problem error={error} />}
        {error === null && shown === undefined && <Loading />}
        {shown?.length === 0 && <Empty>No model has these properties.</Empty>}
        {shown !== undefined && shown.length > 0 && (
          <Table name="Models" columns={COLUMNS} rows={shown} />
        )}
      </Panel>
    </>
  );
}
