import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { When } from '../shared/time.js';
import { pageOfBook } from './pages.js';
import { NewBook } from './price-book-acts.js';
import { PriceTabs } from './price-tabs.js';
import { factorWords } from './price-parts.js';

type Book = Shape<'PriceBookView'>;

const COLUMNS: readonly Column<Book>[] = [
  { head: 'Book', cell: ({ id }) => <Link href={pageOfBook(id)}>{id}</Link> },
  { head: 'Pays', cell: ({ factor_permille: factor }) => factorWords(factor) },
  { head: 'Models with a price of their own', isNumber: true, cell: ({ models }) => models.length },
  { head: 'Accounts that have it', isNumber: true, cell: ({ accounts }) => accounts },
  { head: 'Version', isNumber: true, cell: ({ version }) => version },
  { head: 'In force from', cell: ({ valid_from: at }) => <When at={at} /> },
  { head: 'Planned versions', isNumber: true, cell: ({ planned }) => planned.length },
];

/** The price books: who pays other prices than the listed ones. */
export default function PriceBooks() {
  const mayKeep = useMay('admin');
  const [made, setMade] = useState<string>();
  const pages = usePages(['price-books'], (cursor) =>
    api.GET('/admin/price-books', { params: { query: cursor === undefined ? {} : { cursor } } }),
  );
  return (
    <>
      <ScreenHead
        title="Models and prices"
        answers="Which accounts pay other prices than the listed ones, and which?"
      >
        {mayKeep && <NewBook onMade={setMade} />}
      </ScreenHead>
      <PriceTabs open="/price-books" />
      {made !== undefined && (
        <p class="notice good">
          <Link href={pageOfBook(made)}>{made}</Link> was made. No account has it yet: press Change
          on the page of an account to give it.
        </p>
      )}
      <Panel title="Price books">
        <PagedTable
          name="Price books"
          columns={COLUMNS}
          pages={pages}
          empty="Every account pays the listed prices. A book is made here, or on the command line:"
          command="npm run cli -- price-book:create partners --factor-permille 900"
        />
      </Panel>
    </>
  );
}
