/** The first wait before a worker is replaced. It doubles with every worker that dies soon. */
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 10_000;
/** A worker that ran this long did not die because of its start, so the next wait is the first one again. */
const SETTLED_MS = 60_000;
/** Workers in a row that never became ready, while no other serves. */
const MAX_STILLBORN = 5;

/** What is known about a worker that died. */
export interface DeadWorker {
  readonly wasReady: boolean;
  readonly livedMs: number;
}

/**
 * Decides what follows the death of a worker. A worker that had served is always replaced; the wait grows while workers
 * keep dying, up to 10 s. If none is ready and five in a row never became ready, the start has failed.
 */
export class WorkerRestartPolicy {
  private soonDead = 0;
  private stillborn = 0;

  /** Reports that a worker is ready. */
  ready(): void {
    this.stillborn = 0;
  }

  /** The wait in ms before the replacement starts, or `give-up`. `others` is the number of workers that are ready. */
  after({ wasReady, livedMs }: DeadWorker, others: number): number | 'give-up' {
    if (wasReady || others > 0) this.stillborn = 0;
    else if (++this.stillborn >= MAX_STILLBORN) return 'give-up';
    this.soonDead = livedMs >= SETTLED_MS ? 0 : this.soonDead + 1;
    return Math.min(FIRST_WAIT_MS * 2 ** Math.max(0, this.soonDead - 1), MAX_WAIT_MS);
  }
}
