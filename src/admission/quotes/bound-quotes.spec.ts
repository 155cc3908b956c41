import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BUILT_IN_MODELS } from '../../catalog/models/built-in.models.js';
import type { ModelRow } from '../../catalog/model-row.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Clock } from '../../common/time/clock.js';
import { BoundQuotes } from './bound-quotes.js';

const KEYS = ['a-secret-key-for-tests-only-0123456789'];
const OLD_KEY = 'another-secret-key-for-tests-0123456789';

class TestClock extends Clock {
  atMs = 1_800_000_000_000;

  nowMs(): number {
    return this.atMs;
  }
}

const clock = new TestClock();
const quotes = new BoundQuotes({ secretKeys: KEYS }, clock);
const REQUEST = {
  accountId: '0198c0de-0000-7000-8000-000000000001',
  endpoint: '/v1/audio/speech',
  body: { model: 'aud-v4', input: 'Hello', voice: 'Adam' },
};
const BOOK = { id: 'partners', version: 3, factorPermille: 900 };

const rowOf = (id: string): ModelRow => {
  const row = BUILT_IN_MODELS.find((each) => each.id === id);
  if (!row) throw new Error(`no model ${id}`);
  return row;
};
const ROW = rowOf('aud-v4');

/** The code with which the quote is refused; undefined if it is not. */
async function refusalOf(
  id: string,
  request: object = {},
  by = quotes,
): Promise<string | undefined> {
  try {
    await by.priced(ROW, id, { ...REQUEST, ...request });
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error).toMatchObject({ param: 'x-gateway-quote', shouldRetry: false });
    return error.code;
  }
}

describe('a bound quote', () => {
  it.each(BUILT_IN_MODELS.map(({ id }) => id))(
    'keeps the price of %s and the factor, whatever the row says now',
    async (model) => {
      const row = rowOf(model);
      const price = { ...row.price, factorPermille: 900n };
      const { id } = await quotes.issue(REQUEST, { ...row, price, priceBook: BOOK } as ModelRow);
      expect(await quotes.priced(row, id, REQUEST)).toEqual({ ...row, price, priceBook: BOOK });
    },
  );

  it('takes a book away that the account did not have then', async () => {
    const { id } = await quotes.issue(REQUEST, ROW);
    const booked = { ...ROW, priceBook: BOOK };
    expect(await quotes.priced(booked, id, REQUEST)).toEqual(ROW);
  });

  it('is of the same body, whatever the order of its fields', async () => {
    const { id } = await quotes.issue(REQUEST, ROW);
    expect(await refusalOf(id, { body: { voice: 'Adam', input: 'Hello', model: 'aud-v4' } })).toBe(
      undefined,
    );
    expect(await refusalOf(id, { body: { ...REQUEST.body, input: 'Hello!' } })).toBe(
      'invalid_quote',
    );
    expect(await refusalOf(id, { accountId: '0198c0de-0000-7000-8000-000000000002' })).toBe(
      'invalid_quote',
    );
    expect(await refusalOf(id, { endpoint: '/v1/audio/dialogue' })).toBe('invalid_quote');
  });

  it('ends after 15 minutes', async () => {
    const { id, expiresAt } = await quotes.issue(REQUEST, ROW);
    expect(expiresAt).toBe(clock.nowSeconds() + 900);
    clock.atMs += 899_000;
    expect(await refusalOf(id)).toBe(undefined);
    clock.atMs += 1_000;
    expect(await refusalOf(id)).toBe('quote_expired');
  });

  it('is checked with every key, and not with others', async () => {
    const { id } = await new BoundQuotes({ secretKeys: [OLD_KEY] }, clock).issue(REQUEST, ROW);
    expect(await refusalOf(id)).toBe('invalid_quote');
    const rotated = new BoundQuotes({ secretKeys: [...KEYS, OLD_KEY] }, clock);
    expect(await refusalOf(id, {}, rotated)).toBe(undefined);
  });

  it('is refused with any other character, and any other text', async () => {
    const { id } = await quotes.issue(REQUEST, ROW);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(id.length - 1),
        fc.constantFrom('A', '_', '9', '.'),
        async (at, other) => {
          fc.pre(id[at] !== other);
          const altered = id.slice(0, at) + other + id.slice(at + 1);
          // The last digit of base64 has bits that nothing reads.
          fc.pre(at < id.length - 1);
          expect(await refusalOf(altered)).toBe('invalid_quote');
        },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => (await refusalOf(text)) === 'invalid_quote'),
    );
  });
});
