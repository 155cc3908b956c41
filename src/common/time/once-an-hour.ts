import { HOUR_MS } from './spans.js';

/** Maximum remembered subjects. Above it all are forgotten, so some may be logged twice in an hour. */
const MAX_SUBJECTS = 1_000;

/** Limits log lines to one per subject and hour, so that an error of many calls takes one line. */
export class OnceAnHour {
  private readonly loggedMs = new Map<string, number>();

  /** Returns whether the subject may be logged now; then it may not be logged again for an hour. */
  isDue(subject: string, nowMs: number): boolean {
    const loggedMs = this.loggedMs.get(subject);
    if (loggedMs !== undefined && nowMs - loggedMs < HOUR_MS) return false;
    if (this.loggedMs.size >= MAX_SUBJECTS) this.loggedMs.clear();
    this.loggedMs.set(subject, nowMs);
    return true;
  }
}
