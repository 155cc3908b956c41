import { api, type Shape } from '../shared/api.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Id, Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { type Column, PagedTable } from '../shared/table.js';
import { When } from '../shared/time.js';
import { pricePartsOf, type PricePart } from './price-parts.js';
import { pageOfModel } from './pages.js';
import { PriceTabs } from './price-tabs.js';
import { exactUsd } from '../shared/money.js';

type Change = Shape<'CatalogChangeView'>;
type Price = Change['price'];

const FILTERS: readonly Filter[] = [{ name: 'model', label: 'Model', placeholder: 'Any model' }];

/** The amounts of a price; where there was another one, only those that differ from it. */
function Amounts({ of, than }: { readonly of: Price; readonly than: Price }) {
  if (of === null) return <span class="soft">not sold</span>;
  const others = new Set(than === null ? [] : pricePartsOf(than).map(keyOf));
  const differing = pricePartsOf(of).filter((part) => !others.has(keyOf(part)));
  if (differing.length === 0) return <span class="soft">–</span>;
  return (
    <ul class="plain-list">
      {differing.map(({ name, microUsd, per }) => (
        <li>
          {name} {exactUsd(microUsd)} <span class="soft">per {per}</span>
        </li>
      ))}
    </ul>
  );
}

const keyOf = ({ name, microUsd, per }: PricePart): string => [name, microUsd, per].join('\n');

/** The name of a file; its whole path is the title. */
function ByFile({ path }: { readonly path: string | null }) {
  if (path === null) return 'built in';
  return (
    <span class="mono" title={path}>
      {path.replace(/^.*\//, '')}
    </span>
  );
}

const OF_WHICH: Column<Change> = {
  head: 'Model',
  cell: ({ model }) => <Id id={model} to={pageOfModel(model)} />,
};
const COLUMNS: readonly Column<Change>[] = [
  { head: 'From', cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: 'Before',
    cell: ({ price, former_price: former }) => <Amounts of={former} than={price} />,
  },
  {
    head: 'From then on',
    cell: ({ price, former_price: former }) => <Amounts of={price} than={former} />,
  },
  { head: 'By', cell: ({ file }) => <ByFile path={file} /> },
];

/** Changes of the price of one model, or of all, newest first. */
export function ChangesOfPrices(props: {
  readonly model: string | undefined;
  /** On the page of the model. */
  readonly isOfOne?: boolean;
}) {
  const { model, isOfOne } = props;
  const pages = usePages(['price-changes', model], (cursor) =>
    api.GET('/admin/catalog/changes', {
      params: {
        query: { ...(model !== undefined && { model }), ...(cursor !== undefined && { cursor }) },
      },
    }),
  );
  return (
    <PagedTable
      name="Changes of prices"
      columns={isOfOne ? COLUMNS : [OF_WHICH, ...COLUMNS]}
      pages={pages}
      empty={
        model === undefined
          ? 'No price is recorded yet: that takes some seconds after the first start.'
          : 'No change of this price is recorded.'
      }
    />
  );
}

/** All changes of prices. */
export default function PriceChanges() {
  const { model } = useFilters(FILTERS);
  return (
    <>
      <ScreenHead
        title="Models and prices"
        answers="Which model cost what, since when, and by which file?"
      />
      <PriceTabs open="/price-changes" />
      <Panel title="Changes of prices">
        <Filters of={FILTERS} name="Filters of changes" />
        <ChangesOfPrices model={model} />
      </Panel>
    </>
  );
}
