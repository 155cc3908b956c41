/** A file with a false length, or a file that is no media, and the expected result of measuring it. */
export interface HostileCase {
  readonly name: string;
  /** Billed seconds, or `refused` if the length is uncertain. */
  readonly billed: number | 'refused';
  readonly make: () => Buffer | Promise<Buffer>;
}

/** One row of a table of hostile files. */
export function hostile(
  name: string,
  billed: number | 'refused',
  make: () => Buffer | Promise<Buffer>,
): HostileCase {
  return { name, billed, make };
}
