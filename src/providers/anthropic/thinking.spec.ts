import { expect, it } from '@jest/globals';
import { fittedThinking } from './thinking.js';

it.each([
  ['stays below the cap', { type: 'enabled', budget_tokens: 3_000 }, 4_000, 3_000],
  ['is what a cap of the gateway leaves', { type: 'enabled', budget_tokens: 9_000 }, 4_000, 3_200],
  ['at the cap is what that leaves', { type: 'enabled', budget_tokens: 4_000 }, 4_000, 3_200],
])('a budget of thinking of the same protocol %s (G-106)', (_what, thinking, cap, budget) => {
  const display = 'omitted';
  expect(fittedThinking({ ...thinking, display }, cap)).toEqual({
    type: 'enabled',
    budget_tokens: budget,
    display,
  });
});

it('thinking of the same protocol is left out where the cap leaves no room for it', () => {
  expect(fittedThinking({ type: 'enabled', budget_tokens: 9_000 }, 1_200)).toBeUndefined();
});

it('thinking without a budget is as the caller wants it', () => {
  expect(fittedThinking({ type: 'adaptive' }, 100)).toEqual({ type: 'adaptive' });
  expect(fittedThinking({ type: 'disabled' }, 100)).toEqual({ type: 'disabled' });
});
