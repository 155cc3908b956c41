/** Selects a {@link PositionRow}. It fails on a standby server. */
export const POSITION = `
  SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline,
         (pg_current_wal_lsn() - '0/0')::text AS position`;

/** The database's write-ahead log position: timeline (hexadecimal) and byte offset. */
export interface PositionRow {
  readonly timeline: string;
  readonly position: string;
}

/** Detects that the database's log did not continue from the last known position. */
export class DatabasePosition {
  private last: PositionRow | undefined;
  private before: PositionRow | undefined;

  /** A description of what is wrong with the new position; undefined if it continues the last one, or there is no last one. */
  changeTo(row: PositionRow | undefined): string | undefined {
    if (row === undefined) return undefined;
    const last = this.last;
    this.before = last;
    this.last = row;
    if (last === undefined) return undefined;
    if (BigInt(row.position) < BigInt(last.position)) {
      return `the database's log went back by ${BigInt(last.position) - BigInt(row.position)} bytes`;
    }
    if (row.timeline !== last.timeline) {
      return `the database's timeline changed from ${last.timeline} to ${row.timeline}`;
    }
    return undefined;
  }

  /** Forgets the last position, so that the next check reports the change again. */
  repeat(): void {
    this.last = this.before;
  }
}
