/** A variable that only the configuration names, such as the key of a provider from the overlay file; empty is unset. */
export function readVariable(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}
