/** A file that lies about its length, or is no media at all, and what measuring must make of it. */
export interface HostileCase {
  readonly name: string;
  /** Seconds billed, or `refused` where no length can be told. */
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
