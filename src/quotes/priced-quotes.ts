import { Injectable } from '@nestjs/common';
import { BoundQuotes } from '../admission/quotes/bound-quotes.js';
import type { QuotedCall, BodyQuote } from '../admission/quotes/quotable-calls.js';
import { holdRefusal, runConflictError, type RunConflict } from '../admission/hold-refusal.js';
import { type Available, heldFor } from '../billing/calls/quoted-hold.js';
import { Clock } from '../common/time/clock.js';
import type { Quote } from '../common/money/charge-basis.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';
import { linesOf } from '../common/money/price-lines.js';
import { viewLine } from '../common/money/price-line.view.js';
import { type QuoteLineView, type QuoteView, viewError } from './quote.view.js';

/** Shows what a request costs that would not be refused, and binds it. */
@Injectable()
export class PricedQuotes {
  constructor(
    private readonly bound: BoundQuotes,
    private readonly clock: Clock,
  ) {}

  /** The quote of a request with its prices; for want of money with the 402 beside them. Throws 409 for another limit of its run. */
  async view(
    call: QuotedCall,
    body: unknown,
    text: BodyQuote,
    available: Available | RunConflict,
  ): Promise<QuoteView> {
    if (available.outcome === 'run_conflict') throw runConflictError(call.run, available);
    const { row, caller, endpoint } = call;
    const { accountId } = caller;
    const { id, expiresAt } = await this.bound.issue({ accountId, endpoint, body }, row);
    const factor = row.price.factorPermille;
    return {
      object: 'quote',
      id,
      model: row.id,
      ...this.amounts(call, text, available),
      ...(factor !== undefined && { factor_permille: Number(factor) }),
      available_microusd: formatMicroUsd(positive(available.availableMicroUsd)),
      unchecked: text.unchecked,
      expires_at: expiresAt,
    };
  }

  private amounts(call: QuotedCall, text: BodyQuote, available: Available): Partial<QuoteView> {
    const { quote } = text;
    if (quote === undefined) {
      const lines = linesOfUnknownLength(call);
      return { hold_microusd: null, charge_microusd: null, lines, fits: null };
    }
    const hold = heldFor(quote, available.availableMicroUsd);
    const { cap, lines } = capAndLines(quote, text, hold);
    const fits = hold <= available.availableMicroUsd;
    return {
      hold_microusd: formatMicroUsd(hold),
      charge_microusd: quote.basis ? formatMicroUsd(hold) : null,
      lines: lines.map(viewLine),
      ...(cap !== undefined && { output_cap: cap }),
      fits,
      ...(!fits && {
        error: viewError(holdRefusal(call, quote, available, this.clock.nowMs()), call.endpoint),
      }),
    };
  }
}

/** The output cap of a chat that holds so much, and the lines of what the call would cost at most. */
function capAndLines({ basis, outputCapFor }: Quote, text: BodyQuote, hold: MicroUsd) {
  const { tokens, lines = [] } = text;
  const cap = tokens && (tokens.maxTokens ?? outputCapFor?.(hold) ?? 0);
  return { cap, lines: basis ? linesOf(basis) : (tokens?.linesFor(cap ?? 0) ?? lines) };
}

/** The line of a recording whose length nobody told. */
function linesOfUnknownLength({ row }: QuotedCall): QuoteLineView[] {
  if (row.price.unit !== 'measured_second') return [];
  const unitPrice = formatMicroUsd(row.price.microUsd);
  return [
    {
      unit: 'second',
      quantity: null,
      unit_price_microusd: unitPrice,
      per: 1,
      amount_microusd: null,
    },
  ];
}

const positive = (amount: MicroUsd): MicroUsd => (amount > 0n ? amount : 0n);
