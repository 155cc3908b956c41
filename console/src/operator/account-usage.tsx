import { useMemo } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { Chart } from '../shared/chart.js';
import { axisUsd, chartUsd, count } from '../shared/money.js';
import { Loading, Money, Panel, Problem } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { type Column, Table } from '../shared/table.js';
import { DAY_S } from '../shared/time.js';

type Usage = Shape<'AdminUsageView'>;

const SUMS: readonly Column<Usage>[] = [
  { head: 'Calls', isNumber: true, cell: ({ calls }) => count(calls) },
  { head: 'Failed', isNumber: true, cell: ({ failures }) => count(failures) },
  {
    head: 'Charged',
    isNumber: true,
    cell: ({ charged_microusd: amount }) => <Money microUsd={amount} />,
  },
  {
    head: 'Cost',
    isNumber: true,
    cell: ({ cost_microusd: amount }) => <Money microUsd={amount} />,
  },
  {
    head: 'Margin',
    isNumber: true,
    cell: ({ margin_microusd: amount }) => <Money microUsd={amount} />,
  },
];
const BY_DAY: readonly Column<Usage>[] = [{ head: 'Day (UTC)', cell: ({ day }) => day }, ...SUMS];
const BY_MODEL: readonly Column<Usage>[] = [
  { head: 'Model', cell: ({ model }) => <span class="whole">{model}</span> },
  ...SUMS,
];

const startOf = (day: string | undefined): number => Date.parse(`${day ?? ''}T00:00:00Z`) / 1_000;

/** The charges of each day up to now; those without a row had none. */
function lineOf(rows: readonly Usage[]) {
  const charged = new Map(rows.map((row) => [startOf(row.day), chartUsd(row.charged_microusd)]));
  const times: number[] = [];
  const first = startOf(rows[0]?.day);
  for (let day = first; day <= Date.now() / 1_000; day += DAY_S) times.push(day);
  return {
    times,
    series: [{ name: 'Charged', values: times.map((day) => charged.get(day) ?? 0) }],
  };
}

function useUsage(accountId: string, groupBy: 'day' | 'model') {
  return useAnswer(['usage', accountId, groupBy], () =>
    api.GET('/admin/usage', {
      params: { query: { account_id: accountId, group_by: groupBy } },
    }),
  );
}

/** What an account used in the last 30 days. */
export function AccountUsage({ accountId }: { readonly accountId: string }) {
  const days = useUsage(accountId, 'day');
  const models = useUsage(accountId, 'model');
  const rising = useMemo(
    () => (days.data?.data ?? []).toSorted((one, other) => startOf(one.day) - startOf(other.day)),
    [days.data],
  );
  const chart = useMemo(() => lineOf(rising), [rising]);
  const error = days.error ?? models.error;
  return (
    <Panel
      title="Usage of the last 30 days"
      aside={<Link href={`/usage?account_id=${accountId}`}>By key, operation or hour</Link>}
    >
      {error !== null && <Problem error={error} />}
      {error === null && models.data === undefined && <Loading />}
      {models.data?.data.length === 0 && <p class="soft">Nothing was used.</p>}
      {chart.times.length > 1 && (
        <Chart name="Charged per day" {...chart} format={axisUsd} columns={BY_DAY} rows={rising} />
      )}
      {models.data !== undefined && models.data.data.length > 0 && (
        <Table name="Usage by model" columns={BY_MODEL} rows={models.data.data} />
      )}
    </Panel>
  );
}
