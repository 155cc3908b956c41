/** A variable that only the overlay file names, such as the key of a provider. Empty counts as unset. */
export function readVariable(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}
