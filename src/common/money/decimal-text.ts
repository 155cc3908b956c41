/** The amount divided by 10 to the power of `places`, exactly: decimal digits without an exponent. Not negative. */
export function decimalText(amount: bigint, places: number): string {
  const digits = amount.toString().padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  let end = digits.length;
  while (end > whole.length && digits[end - 1] === '0') end -= 1;
  return end === whole.length ? whole : `${whole}.${digits.slice(whole.length, end)}`;
}
