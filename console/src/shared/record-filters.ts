import type { Filter } from './filters.js';

/** Filters that all lists of calls and tasks have. */
export const RECORD_FILTERS: readonly Filter[] = [
  { name: 'model', label: 'Model', placeholder: 'Any model' },
  { name: 'client_request_id', label: 'Client request id', placeholder: 'As it was sent' },
  { name: 'created_after', label: 'From', isTime: true },
  { name: 'created_before', label: 'Before', isTime: true },
];

/** Those of the lists of an operator. */
export const OPERATOR_RECORD_FILTERS: readonly Filter[] = [
  { name: 'account_id', label: 'Account', placeholder: 'acct_…' },
  { name: 'api_key_id', label: 'Key', placeholder: 'key_…' },
  ...RECORD_FILTERS,
];

/** Filters of the address, and the cursor of a page, as query parameters: times are numbers. */
export function recordQuery(
  filters: Readonly<Record<string, string>>,
  cursor: string | undefined,
): Readonly<Record<string, string | number>> {
  const fields = Object.entries(filters).map(
    ([name, value]) => [name, name.startsWith('created_') ? Number(value) : value] as const,
  );
  return Object.fromEntries(cursor === undefined ? fields : [...fields, ['cursor', cursor]]);
}
