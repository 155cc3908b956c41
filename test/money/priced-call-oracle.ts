import fc from 'fast-check';
import {
  oracleOf,
  type Plain,
  plainPrice,
  type PlainTier,
  plainTiers,
} from '../support/token-prices.js';

/** The most output tokens of the model, and the fewest that a fitted hold pays for. */
export const MOST_TOKENS = 4_000;
export const FEWEST_TOKENS = 16;
const MAX_PROMPT = 4_000;
const RUNS = 3;

const share = fc.nat(250);

/** One call: what it may use, and what it used. */
export const plainCall = fc.record({
  account: fc.nat(1),
  /** The key with a limit, one that this key made, or one without a limit. */
  key: fc.constantFrom('limited' as const, 'made' as const, 'free' as const),
  run: fc.option(fc.nat(RUNS - 1), { nil: null }),
  promptBound: fc.integer({ min: 1, max: MAX_PROMPT }),
  cap: fc.option(fc.integer({ min: 1, max: MOST_TOKENS + 500 }), { nil: null }),
  /** Thousandths of the bound, and of the prompt. */
  prompt: fc.nat(1_000),
  cached: fc.option(share, { nil: null }),
  write: share,
  write1h: share,
  image: share,
  completion: fc.nat(MOST_TOKENS * 2),
  fails: fc.nat(4).map((n) => n === 0),
});
export type PlainCall = typeof plainCall extends fc.Arbitrary<infer Value> ? Value : never;

/** What an account pays: by a book with a factor, by one with rows of its own, or as listed. */
const plainBook = fc.oneof(
  fc.record({ factorPermille: fc.integer({ min: 1, max: 10_000 }) }),
  fc.record({
    price: plainPrice,
    tiers: plainTiers,
    factorPermille: fc.integer({ min: 1, max: 10_000 }),
  }),
  fc.constant(null),
);

/** Prices, the book of each account, limits, money of both kinds, and calls in waves: those of one wave are made at once. */
export const market = fc.record({
  price: plainPrice,
  tiers: plainTiers,
  books: fc.tuple(plainBook, plainBook),
  paid: fc.tuple(fc.nat(3_000_000), fc.nat(3_000_000)),
  granted: fc.tuple(fc.nat(300_000), fc.nat(300_000)),
  keyLimits: fc.tuple(fc.nat(2_000_000), fc.nat(2_000_000)),
  runLimits: fc.array(fc.option(fc.nat(1_000_000), { nil: null }), {
    minLength: RUNS,
    maxLength: RUNS,
  }),
  waves: fc.array(fc.array(plainCall, { minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 6,
  }),
});
export type Market = typeof market extends fc.Arbitrary<infer Value> ? Value : never;

/** Tokens of a call that was made, in whole numbers. */
export function tokensOfPlainCall(call: PlainCall) {
  const prompt = Math.floor((call.promptBound * call.prompt) / 1_000);
  const part = (permille: number) => Math.floor((prompt * permille) / 1_000);
  return {
    prompt,
    cached: call.cached === null ? null : part(call.cached),
    write: part(call.write),
    write1h: part(call.write1h),
    image: part(call.image),
    completion: call.completion,
  };
}

const ceil = (amount: bigint, unit: bigint): bigint => (amount + unit - 1n) / unit;
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const max = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const SCALE = 1_000_000_000n;

/** What the account pays by its book. Its own rows are in the place of the list, and the factor does not touch them. */
export function pricesOf(
  market: Market,
  account: 0 | 1,
): ConstructorParameters<typeof PriceOracle> {
  const book = market.books[account];
  if (book !== null && 'price' in book) return [book.price, book.tiers, null];
  return [market.price, market.tiers, book?.factorPermille ?? null];
}

/** What calls hold and cost, in plain integers and with nothing of the code under test. */
export class PriceOracle {
  constructor(
    private readonly price: Plain,
    private readonly tiers: readonly PlainTier[],
    private readonly factorPermille: number | null,
  ) {}

  /** What a call holds with so many output tokens: all of its prompt and answer at the dearest that it can reach. */
  ceiling(promptBound: number, outputTokens: number): bigint {
    const reached = this.tiers.map(({ above }) => above + 1).filter((at) => at <= promptBound);
    const lists = [0, ...reached].map((at) => oracleOf(this.price, this.tiers, at));
    const input = Math.max(
      ...lists.flatMap((list) => [list.input, list.cached, list.write, list.write1h, list.image]),
    );
    const output = Math.max(...lists.map((list) => list.output));
    const exact = BigInt(promptBound) * BigInt(input) + BigInt(outputTokens) * BigInt(output);
    return ceil(exact * this.factor, SCALE);
  }

  /** What a call needs, and what it holds where so much is available. */
  hold(
    { promptBound, cap }: PlainCall,
    room: bigint,
  ): { readonly need: bigint; readonly held: bigint } {
    if (cap !== null) {
      const amount = this.ceiling(promptBound, Math.min(cap, MOST_TOKENS));
      return { need: amount, held: amount };
    }
    const floor = this.ceiling(promptBound, FEWEST_TOKENS);
    const share = min(room, this.ceiling(promptBound, 0) + room / 8n);
    const most = this.ceiling(promptBound, MOST_TOKENS);
    return { need: min(floor, most), held: min(most, max(floor, share)) };
  }

  /** The charge of the tokens, at most what is held. */
  charge(call: PlainCall, held: bigint): bigint {
    const { prompt, cached, write, write1h, image, completion } = tokensOfPlainCall(call);
    const lines = oracleOf(this.price, this.tiers, prompt);
    const rest = prompt - (cached ?? 0) - write - write1h - image;
    const exact = [
      [rest, lines.input],
      [cached ?? 0, lines.cached],
      [write, lines.write],
      [write1h, lines.write1h],
      [image, lines.image],
      [completion, lines.output],
    ].reduce((sum, [tokens = 0, price = 0]) => sum + BigInt(tokens) * BigInt(price), 0n);
    return min(held, ceil(exact * this.factor, SCALE));
  }

  private get factor(): bigint {
    return BigInt(this.factorPermille ?? 1_000);
  }
}

/** What is left: of an account, of the limit of its key, and of its runs. */
export class Left {
  spentByKey = 0n;
  readonly spentByRun = new Map<number, bigint>();

  constructor(
    public money: bigint,
    private readonly keyLimit: bigint,
    private readonly runLimits: readonly (number | null)[],
  ) {}

  /** The least that a call may spend, if nothing else is under way. */
  roomOf({ key, run }: PlainCall): bigint {
    const ofKey = key === 'free' ? this.money : this.keyLimit - this.spentByKey;
    const limit = run === null ? null : (this.runLimits[run] ?? null);
    const ofRun =
      limit === null ? this.money : BigInt(limit) - (this.spentByRun.get(run ?? 0) ?? 0n);
    return min(this.money, min(ofKey, ofRun));
  }

  spend({ key, run }: PlainCall, charge: bigint): void {
    this.money -= charge;
    if (key !== 'free') this.spentByKey += charge;
    if (run !== null) this.spentByRun.set(run, (this.spentByRun.get(run) ?? 0n) + charge);
  }
}
