/** Most remembered items: what a busy process commits in a few seconds, and so what a standby may lack. */
export const MAX_KEPT = 10_000;
/** Older records may have been deleted by retention, and no standby is so far behind. */
const KEPT_MS = 3_600_000;

/** A charged call or an accepted task, confirmed to its caller. */
export interface Committed {
  readonly kind: 'call' | 'task';
  readonly accountId: string;
  readonly id: string;
}

/** Remembers the last calls and tasks that the database confirmed to this process, up to {@link MAX_KEPT}. */
export class CommittedWork {
  private readonly kept: (Committed & { readonly atMs: number })[] = [];
  private next = 0;

  /** Remembers a call or task that was confirmed just now. */
  note({ kind, accountId, id }: Committed): void {
    this.kept[this.next] = { kind, accountId, id, atMs: performance.now() };
    this.next = (this.next + 1) % MAX_KEPT;
  }

  /** Calls and tasks confirmed within the last hour, unordered. */
  get recent(): readonly Committed[] {
    const since = performance.now() - KEPT_MS;
    return this.kept.filter(({ atMs }) => atMs >= since);
  }

  /** Forgets items that are known to be lost, so that each is reported once. */
  forget(lost: readonly Committed[]): void {
    const ids = new Set(lost.map(({ id }) => id));
    // Oldest first, so that new items overwrite the oldest ones.
    const byAge = [...this.kept.slice(this.next), ...this.kept.slice(0, this.next)];
    const left = byAge.filter(({ id }) => !ids.has(id));
    this.kept.splice(0, this.kept.length, ...left);
    this.next = left.length % MAX_KEPT;
  }
}
