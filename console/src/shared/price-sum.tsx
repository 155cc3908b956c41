import { exactUsd, count } from './money.js';
import { Money } from './parts.js';
import type { Shape } from './api.js';
import { useEvenPlaces } from './table.js';

type Line = Shape<'PriceLineView'>;

interface PriceSumProps {
  readonly lines: readonly Line[] | null;
  readonly charged: string | null;
  readonly priceBook: string | null;
  readonly factorPermille: number | null;
  readonly isCapped?: boolean;
  readonly isEstimated?: boolean;
}

const MILLION = 1_000_000;

/** What a line of a price counts, in words: "tokens", "code points". */
export const unitOf = ({ unit, quantity }: { unit: string; quantity: number | null }): string =>
  `${unit.replaceAll('_', ' ')}${/input|output|cache/.test(unit) ? ' tokens' : quantity === 1 ? '' : 's'}`;
/** What the price of a line is for: "per million", "per second". */
export const perOf = ({ unit, per }: { unit: string; per: number }): string =>
  per === MILLION ? 'per million' : `per ${unit.replaceAll('_', ' ')}`;

/** The charge, written out: each quantity times its price, and what was done with the sum. */
export function PriceSum(props: PriceSumProps) {
  const { lines, charged, priceBook, factorPermille } = props;
  const table = useEvenPlaces();
  if (lines === null || lines.length === 0) {
    return <p class="soft">No price was worked out: nothing was measured, or a person chose it.</p>;
  }
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label="The sum, written out">
      <table class="sum" ref={table}>
        <caption class="hidden-caption">The sum, written out</caption>
        <thead>
          <tr>
            <th scope="col">Quantity × price</th>
            <th scope="col" class="end">
              Amount
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr>
              <td>
                {count(line.quantity)} {unitOf(line)} × {exactUsd(line.unit_price_microusd)}{' '}
                {perOf(line)}
              </td>
              <td class="end">{exactUsd(line.amount_microusd)}</td>
            </tr>
          ))}
          {factorPermille !== null && (
            <tr>
              <td>
                × {factorPermille / 1_000} by the price book {priceBook}
              </td>
              <td class="end" />
            </tr>
          )}
          {props.isCapped && (
            <tr>
              <td>No more than what was held</td>
              <td class="end" />
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <td>Charged{props.isEstimated && ', by an estimated quantity'}</td>
            <td class="end">
              <Money microUsd={charged} />
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
