import { expect, it } from '@jest/globals';
import { tableOf } from './terminal-table.js';

it('shows a list as columns, without columns that are always empty', () => {
  const data = [
    { object: 'account', id: 'acct_1', name: 'a', revoked_at: null, created_at: 1_800_000_000 },
    { object: 'account', id: 'acct_22', name: 'bb', revoked_at: null, created_at: 1_800_000_001 },
  ];
  expect(tableOf({ object: 'list', data, has_more: true, next_cursor: 'x' }).split('\n')).toEqual([
    'id       name  created_at',
    'acct_1   a     2027-01-15T08:00:00Z',
    'acct_22  bb    2027-01-15T08:00:01Z',
    'More: --cursor x',
  ]);
  expect(tableOf({ object: 'list', data: [], has_more: false, next_cursor: null })).toBe(
    'Nothing.',
  );
});

it('shows an object as one line per field, with control characters as their codes', () => {
  expect(tableOf({ object: 'account', id: 'acct_1', name: 'a\u001b[31m\u202eb' })).toBe(
    'id    acct_1\nname  a\\u001b[31m\\u202eb',
  );
});
