import { useEffect } from 'preact/hooks';
import { Link, useLocation, useSearchParams } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { Empty, Id, Loading, Panel, Problem, ScreenHead } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { type Column, Table } from '../shared/table.js';
import { pageOf, pageOfBook } from './pages.js';

type Found = Shape<'FoundRecordView'>;

/** The page of what was found; a thing without one is on the page of its account. */
function pageOfFound({ kind, id, account_id: account }: Found): string | undefined {
  if (kind === 'price_book') return pageOfBook(id);
  return pageOf(id) ?? (account === null ? undefined : pageOf(account));
}

const COLUMNS: readonly Column<Found>[] = [
  { head: 'What', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  {
    head: 'Id',
    cell: (found) => {
      const page = pageOfFound(found);
      return <Id id={found.id} isShort {...(page !== undefined && { to: page })} />;
    },
  },
  {
    head: 'Account',
    cell: ({ account_id: id }) => <Id id={id} to={`/accounts/${id ?? ''}`} isShort />,
  },
];

/** What has an id. A single thing with a page of its own is opened at once. */
export default function Find() {
  const [params] = useSearchParams();
  const [, navigate] = useLocation();
  const id = params.get('id') ?? '';
  const { data, error } = useAnswer(['find', id], () =>
    api.GET('/admin/find', { params: { query: { id } } }),
  );
  const only = data?.data.length === 1 ? data.data[0] : undefined;
  const page = only && pageOfFound(only);
  useEffect(() => {
    if (page !== undefined) navigate(page, { replace: true });
  }, [page]);
  return (
    <>
      <ScreenHead title="Found" answers={<>What has the id “{id}”?</>} />
      <Panel title="Records">
        {error !== null && <Problem error={error} />}
        {error === null && data === undefined && <Loading />}
        {data?.data.length === 0 && (
          <Empty>
            Nothing has this id. <Link href="/">Open the first screen</Link>
          </Empty>
        )}
        {data !== undefined && data.data.length > 0 && (
          <Table name="Records" columns={COLUMNS} rows={data.data} />
        )}
      </Panel>
    </>
  );
}
