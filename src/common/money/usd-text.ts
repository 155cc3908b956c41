const USD_DIGITS = 6;
const MIN_DECIMALS = 2;
/** At most as many digits before the point as amounts have. */
const USD = /^(-?)(\d{1,12})(?:\.(\d{1,6}))?$/;

/** An amount in USD with at least two digits behind the point: `0.0125` for 12500, `5.00` for 5000000. */
export function usdText(microUsd: bigint): string {
  const digits = (microUsd < 0n ? -microUsd : microUsd).toString().padStart(USD_DIGITS + 1, '0');
  let end = digits.length;
  while (end > digits.length - USD_DIGITS && digits[end - 1] === '0') end -= 1;
  const fraction = digits.slice(digits.length - USD_DIGITS, end);
  const usd = `${digits.slice(0, -USD_DIGITS)}.${fraction.padEnd(MIN_DECIMALS, '0')}`;
  return (microUsd < 0n ? '-' : '') + usd;
}

/** An amount as people read it: `12500 micro-USD (0.0125 USD)`. */
export function moneyText(microUsd: bigint): string {
  return `${microUsd} micro-USD (${usdText(microUsd)} USD)`;
}

/** The micro-USD of an amount in USD with at most six digits behind the point, such as `5.00`; undefined for other text. */
export function microUsdOfUsd(text: string): bigint | undefined {
  const [, sign, whole, fraction = ''] = USD.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const amount = BigInt(whole + fraction.padEnd(USD_DIGITS, '0'));
  return sign === '-' ? -amount : amount;
}
