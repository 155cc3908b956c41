import { useEffect, useRef } from 'preact/hooks';
import { type Column, Table } from './table.js';

/** One line of a chart. */
export interface Series {
  readonly name: string;
  /** A value for each place of the axis; null: there is none. */
  readonly values: readonly (number | null)[];
}

interface ChartProps<Row> {
  /** What the chart shows, as its name. */
  readonly name: string;
  /** Epoch seconds, rising. */
  readonly times: readonly number[];
  /** At most ten. */
  readonly series: readonly Series[];
  /** The value with its unit, for the axis; `step`: from one mark of the axis to the next. */
  readonly format: (value: number, step: number) => string;
  readonly isStepped?: boolean;
  /** Bars on each other, from each time to the next one; no value is below zero. */
  readonly isStacked?: boolean;
  /** The same numbers as a table. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

/** Lines over time, with the same numbers as a table. */
export function Chart<Row>(props: ChartProps<Row>) {
  const { name, times, series, format, isStepped = false, isStacked = false } = props;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let destroy: (() => void) | undefined;
    let isGone = false;
    void import('./chart-canvas.js').then(({ drawChart }) => {
      if (!isGone) destroy = drawChart(element, { times, series, format, isStepped, isStacked });
    });
    return () => {
      isGone = true;
      destroy?.();
    };
  }, [times, series, format, isStepped, isStacked]);
  return (
    <figure class="stack">
      <div class="chart" ref={place} role="img" aria-label={`${name}; the table has the numbers`} />
      {series.length > 1 && (
        <ul class="legend">
          {series.map(({ name: line }, index) => (
            <li class={`of-${index + 1}`}>{line}</li>
          ))}
        </ul>
      )}
      <details>
        <summary>{name} as a table</summary>
        <Table name={name} columns={props.columns} rows={props.rows} />
      </details>
    </figure>
  );
}
