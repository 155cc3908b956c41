import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ModelRow } from '../catalog/model-row.js';
import type { EmbeddingsBody } from './dto/embeddings.body.js';
import type { InputField } from './embedding-inputs.js';
import { embeddingsCharge, orderOf } from './embeddings-order.js';

const text = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' });
const ids = fc.array(fc.integer({ min: 0, max: 200_000 }), { minLength: 1, maxLength: 60 });
const input: fc.Arbitrary<InputField> = fc.oneof(
  text,
  ids,
  fc.array(text, { minLength: 1, maxLength: 20 }),
  fc.array(ids, { minLength: 1, maxLength: 20 }),
);
const price = fc.bigInt({ min: 1n, max: 10_000_000n });
const factor = fc.option(fc.bigInt({ min: 1n, max: 10_000n }), { nil: undefined });

function rowOf(inputPrice: bigint, factorPermille?: bigint): ModelRow<'embeddings'> {
  return {
    id: 'gen-embed-x',
    operation: 'embeddings',
    routes: [],
    price: {
      unit: 'token',
      inputMicroUsdPerMillion: inputPrice,
      outputMicroUsdPerMillion: 0n,
      ...(factorPermille !== undefined && { factorPermille }),
    },
    limits: {},
    enabled: true,
  };
}

const bodyOf = (field: InputField): EmbeddingsBody => ({
  model: 'gen-embed-x',
  input: field,
  encoding_format: 'float',
});
/** A token for each byte of a text, and for each id. */
const mostOf = (field: InputField): number => {
  if (typeof field === 'string') return new TextEncoder().encode(field).length;
  const items: readonly (string | number | readonly number[])[] = field;
  return items.reduce<number>((sum, one) => {
    if (typeof one === 'number') return sum + 1;
    return sum + (typeof one === 'string' ? mostOf(one) : one.length);
  }, 0);
};
/** Tokens at their price, in whole micro-USD, by plain integers. */
const dueOf = (tokens: number, inputPrice: bigint, factorPermille = 1_000n): bigint => {
  const exact = BigInt(tokens) * inputPrice * factorPermille;
  const scale = 1_000_000_000n;
  return exact / scale + (exact % scale === 0n ? 0n : 1n);
};

describe('the money of embeddings', () => {
  it('holds a token for each byte and id, and charges never more than that', () => {
    fc.assert(
      fc.property(
        input,
        price,
        factor,
        fc.integer({ min: 1, max: 5_000 }),
        (field, inputPrice, factorPermille, tokens) => {
          const row = rowOf(inputPrice, factorPermille);
          const { hold, lines } = orderOf(row, bodyOf(field));
          const most = mostOf(field);
          expect(hold.amountMicroUsd).toBe(dueOf(most, inputPrice, factorPermille));
          expect(lines.map(({ unit, quantity }) => ({ unit, quantity }))).toEqual([
            { unit: 'input', quantity: most },
          ]);
          const { chargedMicroUsd, isCapped, basis } = embeddingsCharge(
            row,
            { tokens, isEstimated: false },
            hold.amountMicroUsd,
          );
          const due = dueOf(tokens, inputPrice, factorPermille);
          expect(chargedMicroUsd).toBe(due < hold.amountMicroUsd ? due : hold.amountMicroUsd);
          expect(isCapped).toBe(due > hold.amountMicroUsd);
          expect(basis).toMatchObject({ unit: 'token', quantity: { promptTokens: tokens } });
        },
      ),
    );
  });
});
