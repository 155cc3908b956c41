import { useEffect, useRef } from 'preact/hooks';
import { microUsdOf, usd } from './money.js';

interface AmountProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string;
  /** Micro-USD. */
  readonly most?: bigint;
  readonly mayBeNegative?: boolean;
}

/** A field for an amount in dollars, which says what is wrong with it. */
export function Amount({ label, value, onInput, hint, most, mayBeNegative }: AmountProps) {
  const input = useRef<HTMLInputElement>(null);
  const fault = faultOf(value, most, mayBeNegative ?? false);
  useEffect(() => input.current?.setCustomValidity(fault), [fault]);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        ref={input}
        type="text"
        inputMode="decimal"
        autoComplete="off"
        required
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}

function faultOf(value: string, most: bigint | undefined, mayBeNegative: boolean): string {
  const amount = microUsdOf(value);
  if (amount === undefined) return 'Type an amount in dollars, such as 12.50.';
  if (amount === 0n) return 'The amount is not 0.';
  if (amount < 0n && !mayBeNegative) return 'The amount is above 0.';
  return most !== undefined && amount > most ? `The amount is at most ${usd(most)}.` : '';
}

/** An amount that is typed twice, because it moves money that nobody can look up beforehand. */
export function AmountTwice(
  props: AmountProps & { readonly again: string; readonly onAgain: (value: string) => void },
) {
  const input = useRef<HTMLInputElement>(null);
  const { value, again, onAgain } = props;
  const isSame = microUsdOf(value) === microUsdOf(again);
  useEffect(
    () => input.current?.setCustomValidity(isSame ? '' : 'The two amounts differ.'),
    [isSame],
  );
  return (
    <>
      <Amount {...props} />
      <label class="field">
        <span>{props.label} once more</span>
        <input
          ref={input}
          type="text"
          inputMode="decimal"
          autoComplete="off"
          required
          value={again}
          onInput={(event) => onAgain(event.currentTarget.value)}
        />
      </label>
    </>
  );
}
