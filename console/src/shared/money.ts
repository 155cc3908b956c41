const MICRO = 1_000_000n;
const AMOUNT = /^(-?)(\d{1,12})(?:\.(\d{1,6}))?$/;
/** Decimal places of dollars, the fewest first. */
const PLACES = [0, 1, 2, 3, 4, 5, 6];
const WHOLE = new Intl.NumberFormat('en-US');

/** Micro-USD, a whole number in digits, as dollars: at least two places, and as many more as it takes: "$0.0125". */
export function usd(microUsd: string | bigint): string {
  const amount = BigInt(microUsd);
  const size = amount < 0n ? -amount : amount;
  const places = (size % MICRO)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${amount < 0n ? '−' : ''}$${WHOLE.format(size / MICRO)}.${places}`;
}

/** An exact amount of micro-USD with decimal places ("0.4"), as dollars, without rounding. */
export function exactUsd(microUsd: string): string {
  const [whole = '0', places = ''] = microUsd.split('.');
  const digits = whole.padStart(7, '0') + places;
  const point = Math.max(whole.length, 7) - 6;
  const shown = digits.slice(point).replace(/0+$/, '').padEnd(2, '0');
  return `$${WHOLE.format(BigInt(digits.slice(0, point)))}.${shown}`;
}

/** What a field for dollars that are not negative takes, as a pattern of HTML. */
export const DOLLARS = '[0-9]{1,12}([.][0-9]{1,6})?';

/** Typed dollars ("12.50", "-3") as micro-USD; undefined where it is no amount. */
export function microUsdOf(typed: string): bigint | undefined {
  const [, sign, whole = '', places = ''] = AMOUNT.exec(typed.trim().replaceAll(',', '')) ?? [];
  if (sign === undefined) return undefined;
  const size = BigInt(whole) * MICRO + BigInt(places.padEnd(6, '0'));
  return sign === '-' ? -size : size;
}

/** Micro-USD as a field takes them: "12.5". */
export function typedUsd(microUsd: string): string {
  const amount = BigInt(microUsd);
  const places = (amount % MICRO).toString().padStart(6, '0').replace(/0+$/, '');
  return `${amount / MICRO}${places === '' ? '' : `.${places}`}`;
}

/** Dollars as a number, for the axis of a chart only. */
export const chartUsd = (microUsd: string): number => Number(microUsd) / 1e6;

/** Dollars beside the axis of a chart, with as many places as the step from one to the next takes. */
export function axisUsd(value: number, step: number): string {
  const exact = PLACES.find((each) => Number.isInteger(Number((step * 10 ** each).toFixed(6))));
  const places = exact === 0 ? 0 : Math.max(2, exact ?? 6);
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places })}`;
}

const PERCENT = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 2 });

/** A part of a whole as "12.5 %": two places at most; a dash where the whole is nothing. */
export function percent(part: number | bigint, whole: number | bigint): string {
  if (BigInt(whole) === 0n) return '–';
  return PERCENT.format(Number(part) / Number(whole))
    .replace('-', '−')
    .replace('%', ' %');
}

/** A count with its thousands. */
export const count = (value: number | bigint): string => WHOLE.format(value);
