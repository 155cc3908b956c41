import { useMemo } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { api } from '../shared/api.js';
import { FIRST_CALL } from '../shared/first-call.js';
import { ScreenHead } from '../shared/parts.js';
import { useMay, useSession } from '../shared/session.js';
import { type Explored, UsageExplorer } from '../shared/usage-explorer.js';
import { CALLS, CHARGED, COST, FAILURES, MARGIN, USAGE_METRICS } from '../shared/usage-values.js';
import { OPERATOR_DIMENSIONS, OPERATOR_USAGE_FILTERS } from './usage-choices.js';

const OF_EARNINGS = [COST, MARGIN];

const OF_ALL: Explored = {
  path: '/admin/usage',
  read: (query) => api.GET('/admin/usage', { params: { query } }),
  dimensions: OPERATOR_DIMENSIONS,
  metrics: USAGE_METRICS,
  filters: OPERATOR_USAGE_FILTERS,
  columns: [CALLS, FAILURES, CHARGED],
  filtersTasksByKey: true,
  firstCall: FIRST_CALL,
};

/** What all accounts used, by anything. */
export default function Usage() {
  const { role } = useSession();
  const seesCosts = useMay('finance');
  const [params] = useSearchParams();
  const of = useMemo(
    (): Explored =>
      seesCosts
        ? {
            ...OF_ALL,
            metrics: [...USAGE_METRICS, ...OF_EARNINGS],
            columns: [...OF_ALL.columns, ...OF_EARNINGS],
          }
        : {
            ...OF_ALL,
            noCsv: `The CSV has costs, which need the role finance. Yours is ${role ?? 'none'}.`,
          },
    [seesCosts, role],
  );
  const asksCosts = OF_EARNINGS.some(({ id }) => id === params.get('metric'));
  return (
    <>
      <ScreenHead title="Usage" answers="What was used, by whom, when, and for how much?" />
      {asksCosts && !seesCosts && (
        <p class="notice wait">
          Costs and margins need the role finance. Yours is {role}. This is what was charged.
        </p>
      )}
      <UsageExplorer of={of} />
    </>
  );
}
