import { describe, expect, it } from '@jest/globals';
import { csvOfUsage } from './usage-csv.js';
import type { UsageView } from './usage.view.js';

const ROW: UsageView = {
  object: 'usage',
  calls: 1,
  failures: 0,
  quantity: 5,
  unit: 'code_point',
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  charged_microusd: '600',
  charged_usd: '0.0006',
  refunded_microusd: '0',
  refunded_usd: '0.00',
  refunded_goodwill_microusd: '0',
  refunded_fault_microusd: '0',
  refunded_billing_error_microusd: '0',
  latency_p50_ms: 12,
  latency_p99_ms: null,
};

function lineOf(row: Partial<UsageView>): string | undefined {
  const data = [{ ...ROW, ...row }];
  const page = { object: 'list', data, has_more: false, next_cursor: null } as const;
  return csvOfUsage(page, ['model']).split('\r\n')[1];
}

describe('a line of usage as CSV', () => {
  it.each([
    ['=HYPERLINK(A1)', `'=HYPERLINK(A1)`],
    ['+1', `'+1`],
    ['-1+2', `'-1+2`],
    ['-cmd', `'-cmd`],
    ['-', `'-`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\tx', `'\tx`],
    ['=A1,"x"', `"'=A1,""x"""`],
    ['a-b', 'a-b'],
  ])('has %j as %s', (model, cell) => {
    expect(lineOf({ model })).toBe(`${cell},1,0,5,600,12,,code_point,0.0006,0,0.00,0,0,0,0,0,0,0`);
  });

  it('has a negative charge as a number', () => {
    expect(lineOf({ model: 'm', charged_microusd: '-600' })).toBe(
      'm,1,0,5,-600,12,,code_point,0.0006,0,0.00,0,0,0,0,0,0,0',
    );
  });
});
