import { api } from '../shared/api.js';
import { FIRST_CALL } from '../shared/first-call.js';
import { percent } from '../shared/money.js';
import { ScreenHead } from '../shared/parts.js';
import { useMay, useSession } from '../shared/session.js';
import { type Explored, UsageExplorer } from '../shared/usage-explorer.js';
import {
  BELOW_COST,
  CALLS,
  CHARGED,
  COST,
  FAILURES,
  type Group,
  MARGIN,
} from '../shared/usage-values.js';
import { OPERATOR_DIMENSIONS, OPERATOR_USAGE_FILTERS } from './usage-choices.js';

/** The margin as a part of what was charged. */
function marginShare({ values }: Group): string {
  const [charged, margin] = [values[CHARGED.id], values[MARGIN.id]];
  return typeof charged === 'bigint' && typeof margin === 'bigint' ? percent(margin, charged) : '–';
}

const MARGINS: Explored = {
  path: '/admin/margin',
  read: (query) => api.GET('/admin/margin', { params: { query } }),
  dimensions: OPERATOR_DIMENSIONS,
  metrics: [CHARGED],
  filters: OPERATOR_USAGE_FILTERS,
  columns: [BELOW_COST, CALLS, FAILURES, CHARGED, COST, MARGIN],
  lines: [CHARGED, COST, MARGIN],
  usualSort: BELOW_COST.id,
  thenLeast: MARGIN,
  workedOut: [{ head: 'Margin in %', cell: marginShare }],
  filtersTasksByKey: true,
  firstCall: FIRST_CALL,
};

/** Where money is earned or lost. */
export default function Margin() {
  const { role } = useSession();
  const seesCosts = useMay('finance');
  return (
    <>
      <ScreenHead
        title="Margin"
        answers="Where is money earned or lost? What was sold below its cost is first. A margin is unknown where a cost is."
      />
      {seesCosts ? (
        <UsageExplorer of={MARGINS} />
      ) : (
        <p class="notice wait">Margins need the role finance. Yours is {role}.</p>
      )}
    </>
  );
}
