import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { answerOf, api, type Shape } from '../../shared/api.js';
import { count, exactUsd, usd } from '../../shared/money.js';
import { Figures, Money, Problem } from '../../shared/parts.js';
import { perOf, unitOf } from '../../shared/price-sum.js';
import { type FormCall, jsonBodyOf } from './send.js';

type Quote = Shape<'QuoteView'>;
type QuoteLine = Shape<'QuoteLineView'>;

const QUIET_MS = 600;
const KNOWN_MS = 60_000;
/** A longer body is not sent a second time for its price. */
const MOST_CHARACTERS = 200_000;

const UNCHECKED: Readonly<Record<string, string>> = {
  replay: 'whether the same idempotency key was used before',
  webhook_host: 'whether the host of the webhook exists',
  media: 'the media behind the addresses',
  tokens: 'the exact count of tokens of a long text',
};

/** The price of a call as it is in the form. One read of the key for each body that stays for a moment. */
export function useQuote(call: FormCall, durationSeconds: number | undefined) {
  const isReady = Object.keys(call.body.faults).length === 0;
  const request = JSON.stringify({
    path: call.path,
    body: jsonBodyOf(call),
    ...(durationSeconds !== undefined && { duration_seconds: durationSeconds }),
  });
  const [asked, setAsked] = useState<string>();
  useEffect(() => {
    const isFit = isReady && request.length <= MOST_CHARACTERS;
    const timer = setTimeout(() => setAsked(isFit ? request : undefined), QUIET_MS);
    return () => clearTimeout(timer);
  }, [request, isReady]);
  const { data, error } = useQuery({
    queryKey: ['quote', asked],
    queryFn: () =>
      answerOf(api.POST('/v1/quotes', { body: JSON.parse(asked ?? '{}') as Shape<'QuoteBody'> })),
    enabled: asked !== undefined,
    staleTime: KNOWN_MS,
    gcTime: KNOWN_MS,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const isCurrent = asked === request;
  return {
    // One request answers one quote; only a list answers a list.
    quote: isCurrent && data?.object === 'quote' ? data : undefined,
    error: isCurrent ? error : null,
    isTooLong: request.length > MOST_CHARACTERS,
  };
}

/** The price before the call, or the refusal that it would get. */
export function QuotedPrice(props: ReturnType<typeof useQuote> & { readonly faults: number }) {
  const { quote, error, isTooLong, faults } = props;
  if (faults > 0) {
    return (
      <p class="soft" role="status">
        The price is shown when the fields are filled in: {faults} to go.
      </p>
    );
  }
  if (isTooLong) return <p class="soft">This body is too long to ask for its price first.</p>;
  if (error !== null) return <Problem error={error} />;
  if (quote === undefined) {
    return (
      <p class="soft" role="status">
        Asking for the price…
      </p>
    );
  }
  const { error: refusal } = quote;
  return (
    <div class="stack">
      {quote.id !== undefined && <Price quote={quote} />}
      {refusal !== undefined && (
        <div class="notice bad" role="status">
          <p>
            The call would be refused: {refusal.message}
            {refusal.param !== null && (
              <>
                {' '}
                (<span class="mono">{refusal.param}</span>)
              </>
            )}
          </p>
          {refusal.topup_url !== undefined && (
            <p>
              <a href={refusal.topup_url} rel="noopener noreferrer">
                Top up
              </a>
            </p>
          )}
        </div>
      )}
    </div>
  );
}

function Price({ quote }: { readonly quote: Quote }) {
  const { charge_microusd: charge = null, hold_microusd: hold = null, lines = [] } = quote;
  const unchecked = (quote.unchecked ?? []).map((one) => UNCHECKED[one] ?? one);
  return (
    <>
      <Figures
        of={[figureOf(charge, hold), ['Available', <Money microUsd={quote.available_microusd} />]]}
      />
      <ul class="plain small soft">
        {lines.map((line) => (
          <li>{lineInWords(line)}</li>
        ))}
        {quote.factor_permille !== undefined && quote.factor_permille !== 1_000 && (
          <li>× {quote.factor_permille / 1_000} by the price book of the account</li>
        )}
        {charge === null && hold !== null && (
          <li>So much is held. The charge is what the call used, and never more.</li>
        )}
        {unchecked.length > 0 && <li>Not checked before the call: {unchecked.join('; ')}.</li>}
      </ul>
    </>
  );
}

function figureOf(charge: string | null, hold: string | null) {
  if (charge !== null) return ['Price', <Money microUsd={charge} />] as const;
  if (hold !== null) return ['At most', usd(hold)] as const;
  return ['Price', 'by its length'] as const;
}

function lineInWords(line: QuoteLine): string {
  const price = `${exactUsd(line.unit_price_microusd)} ${perOf(line)}`;
  if (line.quantity === null || line.amount_microusd === null) return price;
  return `${count(line.quantity)} ${unitOf(line)} × ${price} = ${exactUsd(line.amount_microusd)}`;
}
