import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { linesOf, sumOf } from '../../common/money/price-lines.js';

/** More than the tokens of any call. */
const MAX_TOKENS = 2 ** 31;
const RUNS = 300;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('what the audit says is due is what the lines charge, to the micro-USD, however dear the call', async () => {
  const tokens = fc.nat(MAX_TOKENS);
  const price = fc.maxSafeNat();
  await fc.assert(
    fc.asyncProperty(tokens, tokens, price, price, async (prompt, completion, input, output) => {
      const quantity = {
        promptTokens: prompt,
        cachedTokens: null,
        completionTokens: completion,
        reasoningTokens: null,
      };
      const unitPrice = { inputPerMillion: String(input), outputPerMillion: String(output) };
      const [row] = await database.dataSource.query<{ due: string }[]>(
        `SELECT ceil(charge_due('token', $1, $2))::text AS due`,
        [JSON.stringify(quantity), JSON.stringify(unitPrice)],
      );
      expect(row?.due).toBe(sumOf(linesOf({ unit: 'token', quantity, unitPrice })).toString());
    }),
    { numRuns: RUNS },
  );
});
