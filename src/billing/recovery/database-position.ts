/** Asks for {@link PositionRow}. A server that only follows another cannot answer. */
export const POSITION = `
  SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline,
         (pg_current_wal_lsn() - '0/0')::text AS position`;

/** Where the database writes its log: the history it follows, hexadecimal, and the bytes written in it. */
export interface PositionRow {
  readonly timeline: string;
  readonly position: string;
}

/** Whether the database went on from where it was last seen. */
export class DatabasePosition {
  #last: PositionRow | undefined;
  #before: PositionRow | undefined;

  /** Says in words what is wrong with the new position; undefined if it goes on from the last one, or there is none. */
  changeTo(row: PositionRow | undefined): string | undefined {
    if (row === undefined) return undefined;
    const last = this.#last;
    this.#before = last;
    this.#last = row;
    if (last === undefined) return undefined;
    if (BigInt(row.position) < BigInt(last.position)) {
      return `the database is ${BigInt(last.position) - BigInt(row.position)} bytes of its log behind what it was`;
    }
    if (row.timeline !== last.timeline) {
      return `the database follows another history (timeline ${last.timeline}, now ${row.timeline})`;
    }
    return undefined;
  }

  /** Forgets the last position, so that its change is found again. */
  repeat(): void {
    this.#last = this.#before;
  }
}
