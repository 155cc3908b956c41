import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Badge, Id, Money, Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { recordQuery } from '../shared/record-filters.js';
import { type Column, PagedTable } from '../shared/table.js';
import { When } from '../shared/time.js';
import { pageOf, pageOfBook } from './pages.js';
import { WhatChanged } from './what-changed.js';

type Action = Shape<'OperatorActionView'>;

const FILTERS: readonly Filter[] = [
  { name: 'actor', label: 'Who', placeholder: 'As the list names them' },
  { name: 'action', label: 'Act', placeholder: 'Such as account:credit' },
  { name: 'target', label: 'Object', placeholder: 'acct_…, key_…, task_…' },
  { name: 'created_after', label: 'From', isTime: true },
  { name: 'created_before', label: 'Before', isTime: true },
];

/** What an act was done to and has no page of its own is looked for: a key, an entry, an endpoint. */
const FOUND = /^(key|entry|whe)_[0-9a-f]{32}$/;

/** The page of what an act was done to; undefined where there is none. */
function pageOfObject(id: string, action: string): string | undefined {
  if (action.startsWith('price-book:')) return pageOfBook(id);
  return FOUND.test(id) ? `/find?id=${id}` : pageOf(id);
}

function ObjectId({ id, action }: { readonly id: string; readonly action: string }) {
  const page = pageOfObject(id, action);
  return <Id id={id} isShort {...(page !== undefined && { to: page })} />;
}

function Who({ person, actor, role }: Action): ComponentChildren {
  return (
    <>
      <Link
        href={`/acts?actor=${encodeURIComponent(actor)}`}
        title={`All acts of ${actor}`}
        class={person === null ? 'mono' : undefined}
      >
        {person ?? actor}
      </Link>
      <small class="below">{role ?? 'no role'}</small>
    </>
  );
}

/** What it was done to, and what it made. */
function Objects({ target, made, action }: Action): ComponentChildren {
  if (target === null && made === null) return <span class="soft">–</span>;
  return (
    <>
      {target !== null && <ObjectId id={target} action={action} />}
      {made !== null && made !== target && (
        <span class="below">
          made <ObjectId id={made} action={action} />
        </span>
      )}
    </>
  );
}

function Outcome({ outcome }: Action): ComponentChildren {
  if (outcome === null) return <Badge state="not known" tone="wait" />;
  return <Badge state={outcome} tone={outcome === 'done' ? 'good' : 'bad'} />;
}

const COLUMNS: readonly Column<Action>[] = [
  { head: 'When', cell: ({ created_at: at }) => <When at={at} /> },
  { head: 'Who', cell: Who },
  {
    head: 'Act',
    cell: ({ action }) => (
      <Link href={`/acts?action=${encodeURIComponent(action)}`} title={`All acts ${action}`}>
        {action}
      </Link>
    ),
  },
  { head: 'Object', cell: Objects },
  { head: 'Outcome', cell: Outcome },
  {
    head: 'Money',
    isNumber: true,
    cell: ({ amount_microusd: amount }) => <Money microUsd={amount} />,
  },
  { head: 'Reason', cell: ({ reason }) => reason ?? <span class="soft">–</span> },
  { head: 'Changed', cell: ({ before, after }) => <WhatChanged before={before} after={after} /> },
  {
    head: 'From address',
    cell: ({ address }) => address ?? <span class="soft">command line</span>,
  },
];

/** What operators and keys asked to change, and what came of it. */
export default function Acts() {
  const filters = useFilters(FILTERS);
  const isFiltered = Object.keys(filters).length > 0;
  const pages = usePages(['acts', filters], (cursor) =>
    api.GET('/admin/operator-actions', { params: { query: recordQuery(filters, cursor) } }),
  );
  return (
    <>
      <ScreenHead
        title="Who did what"
        answers="Who changed what, when and why? Each act is recorded before it is done, a refused one too."
      />
      <Panel title="Acts">
        <Filters of={FILTERS} name="Filters of acts" />
        <PagedTable
          name="Acts"
          columns={COLUMNS}
          pages={pages}
          empty={
            isFiltered
              ? 'No act has these properties.'
              : 'Nobody has changed anything yet. A first change is an account:'
          }
          command={isFiltered ? undefined : 'npm run cli -- account:create acme'}
        />
      </Panel>
    </>
  );
}
