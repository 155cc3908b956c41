import { Link, useParams } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { exactUsd, percent } from '../shared/money.js';
import { Copy, Empty, Figures, Id, Panel, RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, Table } from '../shared/table.js';
import { When } from '../shared/time.js';
import { DeleteBook, ReplaceBook } from './price-book-acts.js';
import { pageOfModel } from './pages.js';
import { factorWords, listedPrice, pricePartsOf, type PricePart } from './price-parts.js';
import { WhatIf } from './what-if.js';

type Version = Shape<'PriceBookVersionView'>;

/** One price book: its prices beside the listed ones, what begins later, and what it would have changed. */
export default function PriceBook() {
  const { id } = useParams<{ id: string }>();
  const mayKeep = useMay('admin');
  const { data, error } = useAnswer(['price-book', id], () =>
    api.GET('/admin/price-books/{id}', { params: { path: { id } } }),
  );
  if (data === undefined) return <Unshown title={id} error={error} />;
  return (
    <>
      <ScreenHead
        title={data.id}
        answers={
          <>
            What do the accounts with this price book pay? <Copy text={data.id} what="the id" />
          </>
        }
      >
        {mayKeep && <ReplaceBook key={data.id} book={data} />}
        {mayKeep && <DeleteBook book={data} />}
      </ScreenHead>
      <Figures
        of={[
          ['Factor', percent(data.factor_permille, 1_000), 'of the listed prices'],
          ['Models with a price of their own', data.models.length],
          ['Accounts that have it', data.accounts],
          ['Version', data.version, <When at={data.valid_from} />],
        ]}
      />
      <Panel title="Prices of its own">
        <OwnPrices of={data} />
      </Panel>
      {data.planned.map((version) => (
        <Panel
          title={`Version ${version.version}, planned`}
          aside={
            <span class="soft">
              from <When at={version.valid_from} />
            </span>
          }
        >
          <p>Other models pay {factorWords(version.factor_permille)}.</p>
          <OwnPrices of={version} />
        </Panel>
      ))}
      <WhatIf bookId={data.id} />
      <p>
        <Link href={`/acts?target=${encodeURIComponent(data.id)}`}>Who changed this book</Link>
      </p>
      <RawJson value={data} />
    </>
  );
}

interface OwnPart extends PricePart {
  readonly model: string;
  readonly listed: string | undefined;
}

const COLUMNS: readonly Column<OwnPart>[] = [
  { head: 'Model', cell: ({ model }) => <Id id={model} to={pageOfModel(model)} /> },
  { head: 'For', cell: ({ name }) => name },
  { head: 'Price', isNumber: true, cell: ({ microUsd }) => exactUsd(microUsd) },
  {
    head: 'Listed',
    isNumber: true,
    cell: ({ listed }) => (listed === undefined ? <span class="soft">–</span> : exactUsd(listed)),
  },
  { head: 'Per', cell: ({ per }) => per },
];

/** The prices of a version beside those of the list. */
function OwnPrices({ of: { models, factor_permille: factor } }: { readonly of: Version }) {
  const { data } = useAnswer(['catalog'], () => api.GET('/admin/catalog'));
  if (models.length === 0) return <Empty>None: every model pays {factorWords(factor)}.</Empty>;
  const rows = models.flatMap(({ id, price }): OwnPart[] => {
    const sold = data?.data.find((model) => model.id === id);
    const listed = new Map(
      (sold ? pricePartsOf(sold.price) : []).map(({ name, microUsd }) => [name, microUsd]),
    );
    return pricePartsOf(listedPrice(price)).map((part) => ({
      ...part,
      model: id,
      listed: listed.get(part.name),
    }));
  });
  return <Table name="Prices of its own" columns={COLUMNS} rows={rows} />;
}
