const HOUR_MS = 3_600_000;
/** When more subjects than this were told, all are forgotten: some may then be told twice in an hour. */
const MAX_SUBJECTS = 1_000;

/** Says of each subject at most once an hour that it is to be logged, so that a fault of many calls takes one line. */
export class OnceAnHour {
  readonly #toldMs = new Map<string, number>();

  /** Whether the subject is due. Then it is not due again for an hour. */
  isDue(subject: string, nowMs: number): boolean {
    const toldMs = this.#toldMs.get(subject);
    if (toldMs !== undefined && nowMs - toldMs < HOUR_MS) return false;
    if (this.#toldMs.size >= MAX_SUBJECTS) this.#toldMs.clear();
    this.#toldMs.set(subject, nowMs);
    return true;
  }
}
