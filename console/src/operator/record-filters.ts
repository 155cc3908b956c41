import type { Filter } from '../shared/filters.js';

/** Filters that calls and tasks have alike. */
export const RECORD_FILTERS: readonly Filter[] = [
  { name: 'model', label: 'Model', placeholder: 'Any model' },
  { name: 'account_id', label: 'Account', placeholder: 'acct_…' },
  { name: 'api_key_id', label: 'Key', placeholder: 'key_…' },
  { name: 'client_request_id', label: 'Client request id', placeholder: 'As it was sent' },
  { name: 'created_after', label: 'From', isTime: true },
  { name: 'created_before', label: 'Before', isTime: true },
];

/** Filters of the address as query parameters: times are numbers. */
export function recordQuery(
  filters: Readonly<Record<string, string>>,
): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [
      name,
      name.startsWith('created_') ? Number(value) : value,
    ]),
  );
}
