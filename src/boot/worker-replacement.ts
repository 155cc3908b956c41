/** The first wait before a worker is replaced; doubles with every worker that dies soon. */
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 10_000;
/** A worker that lived so long did not die of its start: the next wait is the first one again. */
const SETTLED_MS = 60_000;
/** Workers in a row that never became ready, none other serving. */
const MAX_STILLBORN = 5;

/** What is known of a worker that died. */
export interface DeadWorker {
  readonly wasReady: boolean;
  readonly livedMs: number;
}

/**
 * Decides what follows the death of a worker. One that served is always replaced, ever more slowly while they keep dying,
 * but within 10 s. Where none is ready and five in a row never became so, there is nothing to wait for: the start has failed.
 */
export class WorkerReplacement {
  private soonDead = 0;
  private stillborn = 0;

  /** Tells that a worker is ready. */
  ready(): void {
    this.stillborn = 0;
  }

  /** The wait in ms before the replacement starts, or `give-up`; `others` workers are ready still. */
  after({ wasReady, livedMs }: DeadWorker, others: number): number | 'give-up' {
    if (wasReady || others > 0) this.stillborn = 0;
    else if (++this.stillborn >= MAX_STILLBORN) return 'give-up';
    this.soonDead = livedMs >= SETTLED_MS ? 0 : this.soonDead + 1;
    return Math.min(FIRST_WAIT_MS * 2 ** Math.max(0, this.soonDead - 1), MAX_WAIT_MS);
  }
}
