/** Kept at most: what a busy process commits in some seconds, and so what a standby may lack. */
export const MAX_KEPT = 10_000;
/** Older work may have been removed by its retention, and no standby is so far behind. */
const KEPT_MS = 3_600_000;

/** A call that was charged, or a task that was accepted, as its caller was told. */
export interface Committed {
  readonly kind: 'call' | 'task';
  readonly accountId: string;
  readonly id: string;
}

/** The last work that the database has confirmed to this process, in a bounded number. */
export class CommittedWork {
  readonly #kept: (Committed & { readonly atMs: number })[] = [];
  #next = 0;

  /** Notes what was confirmed just now. */
  note({ kind, accountId, id }: Committed): void {
    this.#kept[this.#next] = { kind, accountId, id, atMs: performance.now() };
    this.#next = (this.#next + 1) % MAX_KEPT;
  }

  /** What was confirmed within the last hour, in no order. */
  get recent(): readonly Committed[] {
    const since = performance.now() - KEPT_MS;
    return this.#kept.filter(({ atMs }) => atMs >= since);
  }

  /** Forgets what is known to be lost, so that it is told once. */
  forget(lost: readonly Committed[]): void {
    const ids = new Set(lost.map(({ id }) => id));
    // Oldest first, so that the next ones take the places of the oldest again.
    const byAge = [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)];
    const left = byAge.filter(({ id }) => !ids.has(id));
    this.#kept.splice(0, this.#kept.length, ...left);
    this.#next = left.length % MAX_KEPT;
  }
}
