import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Empty, Loading, Problem } from './parts.js';
import type { Pages } from './queries.js';

/** A column: its head, and what it shows of a row. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the end. */
  readonly isNumber?: boolean;
  /** The head changes the order of the rows. */
  readonly sort?: Sorting;
}

/** How the rows stand by a column now, and what makes them stand by it or the other way round. */
interface Sorting {
  readonly now?: 'ascending' | 'descending';
  readonly change: () => void;
}

interface TableProps<Row> {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  /** What a row is known by when the list changes; absent: its `id`. */
  readonly keyOf?: (row: Row) => string;
}

/** The id of a row, where it has one. */
const idOf = (row: unknown): string | undefined => {
  const { id } = row as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
};

const PLACES = /^[−-]?\$[\d,]+\.(\d+)$/;

/**
 * A table whose amounts of one column have the same number of decimal places. The zeros that an amount lacks are added by the
 * style alone: its text stays exact, and what is copied too.
 */
export function useEvenPlaces(): RefObject<HTMLTableElement> {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    const columns = new Map<number, (readonly [HTMLElement, number])[]>();
    for (const cell of table.current?.querySelectorAll<HTMLTableCellElement>('td.end') ?? []) {
      const amount = cell.querySelector<HTMLElement>('.number') ?? cell;
      const [, places] = PLACES.exec(amount.textContent) ?? [];
      delete amount.dataset.zeros;
      if (places === undefined) continue;
      const column = columns.get(cell.cellIndex) ?? [];
      columns.set(cell.cellIndex, [...column, [amount, places.length]]);
    }
    for (const column of columns.values()) {
      const most = Math.max(...column.map(([, places]) => places));
      for (const [amount, places] of column) {
        if (places < most) amount.dataset.zeros = '0'.repeat(most - places);
      }
    }
  });
  return table;
}

/** A table with a name. It scrolls by itself on a narrow page. */
export function Table<Row>(props: TableProps<Row> & { readonly rows: readonly Row[] }) {
  const { name, columns, rows, keyOf = idOf } = props;
  const sideOf = ({ isNumber }: Column<Row>) => (isNumber ? 'end' : undefined);
  const table = useEvenPlaces();
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label={name}>
      <table ref={table}>
        <caption class="hidden-caption">{name}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={sideOf(column)} aria-sort={column.sort?.now}>
                {column.sort ? <SortHead head={column.head} {...column.sort} /> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {/* A dialogue that is open in a row stays with what it is about when rows come and go. */}
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td class={sideOf(column)}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SortHead({ head, now, change }: Sorting & { readonly head: string }) {
  return (
    <button type="button" class="bare" onClick={change}>
      {head}
      {now !== undefined && <span aria-hidden="true">{now === 'ascending' ? ' ▲' : ' ▼'}</span>}
    </button>
  );
}

/** A list that is read page by page, as a table; `empty` and `command`: what one sees where it has no rows. */
export function PagedTable<Row>(
  props: TableProps<Row> & {
    readonly pages: Pages<Row>;
    readonly empty: ComponentChildren;
    readonly command?: string | undefined;
  },
) {
  const { rows, error, hasMore, isLoadingMore, more } = props.pages;
  if (rows === undefined) return error === undefined ? <Loading /> : <Problem error={error} />;
  if (rows.length === 0) return <Empty command={props.command}>{props.empty}</Empty>;
  return (
    <>
      <Table name={props.name} columns={props.columns} rows={rows} />
      {hasMore && (
        <div>
          <button type="button" onClick={more} disabled={isLoadingMore}>
            {isLoadingMore ? 'Loading…' : 'Show more'}
          </button>
        </div>
      )}
    </>
  );
}
