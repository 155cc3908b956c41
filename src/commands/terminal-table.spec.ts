import { describe, expect, it } from '@jest/globals';
import { tableOf } from './terminal-table.js';

const WIDE = 120;
const NARROW = 80;
const ID = `acct_${'0'.repeat(32)}`;

describe('a list on a terminal', () => {
  const data = [
    { object: 'account', id: 'acct_1', name: 'a', revoked_at: null, created_at: 1_800_000_000 },
    { object: 'account', id: 'acct_22', name: 'bb', revoked_at: null, created_at: 1_800_000_001 },
  ];

  it('has columns, without those that are always empty', () => {
    const list = { object: 'list', data, has_more: true, next_cursor: 'x' };
    expect(tableOf(list, NARROW).split('\n')).toEqual([
      'id       name  created_at',
      'acct_1   a     2027-01-15T08:00:00Z',
      'acct_22  bb    2027-01-15T08:00:01Z',
      'More: --cursor x',
    ]);
    const empty = { object: 'list', data: [], has_more: false, next_cursor: null };
    expect(tableOf(empty, NARROW)).toBe('Nothing.');
  });

  it('has amounts in USD beside micro-USD, and not once more, and what is said of the whole list', () => {
    const amounts = { charged_microusd: '12500', charged_usd: '0.0125' };
    const rows = [{ object: 'usage', model: 'aud-v4', ...amounts }];
    const list = { object: 'list', data: rows, has_more: false, next_cursor: null };
    expect(tableOf({ ...list, last_day: '2026-11-30' }, NARROW).split('\n')).toEqual([
      'model   charged_microusd',
      'aud-v4  12500 (0.0125 USD)',
      '',
      'last_day  2026-11-30',
    ]);
  });

  it.each([NARROW, WIDE])('fits %i columns: a wider one is a block of lines per row', (columns) => {
    const row = {
      object: 'account',
      id: ID,
      name: 'name '.repeat(30).trim(),
      available_microusd: '5000000',
      parent: ID,
      note: null,
      url: 'x'.repeat(200),
    };
    const list = { object: 'list', data: [row, row], has_more: false, next_cursor: null };
    const lines = tableOf(list, columns).split('\n');
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines[0]).toBe(`id                  ${ID}`);
    expect(lines.join('\n')).toContain('\navailable_microusd  5000000 (5.00 USD)\n');
    expect(lines.join('').match(/x+/g)?.join('')).toHaveLength(400);
    expect(lines.filter((line) => line === '')).toHaveLength(1);
    expect(lines.join('\n')).not.toContain('note');
  });
});

describe('an object on a terminal', () => {
  it('has one line per field, with control characters as their codes', () => {
    expect(tableOf({ object: 'account', id: 'acct_1', name: 'a\u001b[31m\u202eb' }, NARROW)).toBe(
      'id    acct_1\nname  a\\u001b[31m\\u202eb',
    );
  });

  it('has each text of a list on a line of its own', () => {
    const check = { object: 'catalog_check', ok: false, faults: ['first', 'second'] };
    expect(tableOf(check, NARROW)).toBe('ok      false\nfaults  first\n        second');
  });

  it('has each object of a list on a line of its own, without its empty fields', () => {
    const credit = { credit_kind: 'granted', remaining_microusd: '1500000', expires_at: 0 };
    const account = { id: 'a', credits: [credit, { ...credit, expires_at: null }] };
    expect(tableOf(account, 120)).toBe(
      [
        'id       a',
        'credits  credit_kind granted, remaining_microusd 1500000 (1.50 USD), expires_at 1970-01-01T00:00:00Z',
        '         credit_kind granted, remaining_microusd 1500000 (1.50 USD)',
      ].join('\n'),
    );
  });
});
