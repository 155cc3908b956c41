import { Link, useParams } from 'wouter-preact';
import { api, decoded, type Shape } from '../shared/api.js';
import { exactUsd } from '../shared/money.js';
import { Badge, Copy, Empty, Facts, Panel, RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, Table } from '../shared/table.js';
import { DifferencesOfModel } from './field-differences.js';
import { MarginShare, ShortPrice, SourceBadge } from './models.js';
import { ChangesOfPrices } from './price-changes.js';
import { costsOf, marginPermille, pricePartsOf, type PricePart } from './price-parts.js';

type Model = Shape<'CatalogModelView'>;
type Route = Model['routes'][number];

/** One model: its price in words, its routes and their costs, what the file changed, and the price over time. */
export default function Model() {
  const id = decoded(useParams<{ id: string }>().id);
  const { data, error } = useAnswer(['catalog'], () => api.GET('/admin/catalog'));
  const model = data?.data.find((one) => one.id === id || one.aliases.includes(id));
  if (model === undefined) {
    return data === undefined ? <Unshown title={id} error={error} /> : <NotSold id={id} />;
  }
  const calls = `/calls?model=${encodeURIComponent(model.id)}`;
  const tasks = `/tasks?model=${encodeURIComponent(model.id)}`;
  return (
    <>
      <ScreenHead
        title={model.id}
        answers={
          <>
            A model for {model.operation.replaceAll('_', ' ')}:{' '}
            <SourceBadge source={model.source} /> <Copy text={model.id} what="the id" />
          </>
        }
      />
      <Panel title="Price">
        <PriceTable of={model} />
      </Panel>
      <Panel title="Routes, in order of preference">
        <Table name="Routes" columns={ROUTES} rows={model.routes} />
      </Panel>
      <Panel title="What the file changed">
        <Differences of={model} />
      </Panel>
      <Panel title="Changes of this price">
        <ChangesOfPrices model={model.id} isOfOne />
      </Panel>
      <Panel title="Facts">
        <Facts
          of={[
            ['Further names', model.aliases.length > 0 ? model.aliases.join(', ') : null],
            ['Work with it', <CallsAndTasks calls={calls} tasks={tasks} />],
          ]}
        />
      </Panel>
      <RawJson value={model} />
    </>
  );
}

function CallsAndTasks({ calls, tasks }: { readonly calls: string; readonly tasks: string }) {
  return (
    <>
      <Link href={calls}>Calls</Link>, <Link href={tasks}>tasks</Link>
    </>
  );
}

function NotSold({ id }: { readonly id: string }) {
  return (
    <>
      <ScreenHead title={id} answers="This model is not sold now." />
      <Panel title="Changes of this price">
        <ChangesOfPrices model={id} isOfOne />
      </Panel>
    </>
  );
}

const ROUTES: readonly Column<Route>[] = [
  { head: 'Provider', cell: ({ provider }) => provider },
  { head: 'Name there', cell: ({ upstream_model: name }) => <span class="mono">{name}</span> },
  {
    head: 'Can run',
    cell: ({ can_run: canRun }) =>
      canRun ? (
        <Badge state="yes" tone="good" />
      ) : (
        <Badge state="no key or no such work" tone="wait" />
      ),
  },
  { head: 'Cost', cell: ({ cost }) => <ShortPrice of={cost} /> },
  {
    head: "Provider's own figure",
    cell: ({ reported_cost: figure }) =>
      figure === null ? <span class="soft">–</span> : <span class="mono">{figure}</span>,
  },
];

function PriceTable({ of: { price, routes } }: { readonly of: Model }) {
  const seesCosts = useMay('finance');
  const costs = routes.flatMap(({ provider, upstream_model: name, cost }) =>
    cost === null ? [] : [{ route: `${provider} · ${name}`, costOf: costsOf(cost) }],
  );
  const columns: readonly Column<PricePart>[] = [
    { head: 'For', cell: ({ name }) => name },
    { head: 'Price', isNumber: true, cell: ({ microUsd }) => exactUsd(microUsd) },
    { head: 'Per', cell: ({ per }) => per },
    ...costs.flatMap(({ route, costOf }) => costColumns(route, costOf)),
  ];
  return (
    <>
      <Table name="Price" columns={columns} rows={pricePartsOf(price)} />
      {costs.length === 0 && (
        <p class="soft">
          {seesCosts
            ? 'No route has a cost. Declare it as cost of the route in the file of CATALOG_FILE to see the margin.'
            : 'Your role does not see costs and margins.'}
        </p>
      )}
    </>
  );
}

const costColumns = (
  route: string,
  costOf: ReturnType<typeof costsOf>,
): readonly Column<PricePart>[] => [
  {
    head: `Cost at ${route}`,
    isNumber: true,
    cell: (part) => {
      const amount = costOf(part);
      return amount === undefined ? <span class="soft">–</span> : exactUsd(amount);
    },
  },
  {
    head: 'Margin',
    isNumber: true,
    cell: (part) => <MarginShare permille={marginPermille(part.microUsd, costOf(part))} />,
  },
];

function Differences({ of: { source, differences } }: { readonly of: Model }) {
  if (differences.length > 0) return <DifferencesOfModel of={differences} />;
  if (source === 'built_in') return <Empty>Nothing: the row is built in as it stands.</Empty>;
  if (source === 'added') return <Empty>All of it: no such model is built in.</Empty>;
  return <Empty>Only costs, or nothing that differs from the built-in row.</Empty>;
}
