import { expect, it } from '@jest/globals';
import { microUsdOfUsd, moneyText, usdText } from './usd-text.js';

it.each([
  [0n, '0.00'],
  [1n, '0.000001'],
  [12_500n, '0.0125'],
  [500_000n, '0.50'],
  [5_000_000n, '5.00'],
  [-1_500_000n, '-1.50'],
  [1_000_000_000_000_000n, '1000000000.00'],
])('%s micro-USD are %s USD, and back', (amount, text) => {
  expect(usdText(amount)).toBe(text);
  expect(microUsdOfUsd(text)).toBe(amount);
});

it('writes both units', () => {
  expect(moneyText(12_500n)).toBe('12500 micro-USD (0.0125 USD)');
});

it('reads whole USD, and no text that is not an amount of at most six decimals', () => {
  expect(microUsdOfUsd('5')).toBe(5_000_000n);
  for (const text of ['', '5.', '.5', '5,00', '1e3', '0.0000001', '5 USD', '1'.repeat(13)]) {
    expect(microUsdOfUsd(text)).toBeUndefined();
  }
});
