import { api } from '../shared/api.js';
import { FIRST_CALL } from '../shared/first-call.js';
import { ScreenHead } from '../shared/parts.js';
import { type Explored, UsageExplorer } from '../shared/usage-explorer.js';
import { CALLS, CHARGED, FAILURES, USAGE_METRICS } from '../shared/usage-values.js';

const OF_ACCOUNT: Explored = {
  path: '/v1/usage',
  read: (query) => api.GET('/v1/usage', { params: { query } }),
  dimensions: ['model', 'key', 'endpoint', 'run', 'time'],
  metrics: USAGE_METRICS,
  filters: [
    { name: 'api_key_id', label: 'Key', placeholder: 'key_…' },
    { name: 'model', label: 'Model', placeholder: 'Any model' },
  ],
  columns: [CALLS, FAILURES, CHARGED],
  filtersTasksByKey: false,
  firstCall: FIRST_CALL,
};

/** What the account used, by anything. */
export default function Usage() {
  return (
    <>
      <ScreenHead title="Usage" answers="What was used, with which key, when, and for how much?" />
      <UsageExplorer of={OF_ACCOUNT} />
    </>
  );
}
