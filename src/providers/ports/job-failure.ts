/** What a provider says about a job that failed, in its own words; null where it says nothing. */
export interface JobFailure {
  readonly code: string | null;
  readonly message: string | null;
  readonly requestId: string | null;
}

/** A job that is not finished. */
export interface PendingJob {
  readonly state: 'pending';
  /** 0 to 100, or null where none is reported. */
  readonly progress: number | null;
  /** The provider's word for the state of the job, if the adapter does not know it. */
  readonly unknownState?: string;
}

/** A job that will never produce anything: it failed, was refused, cancelled, or expired. */
export interface FailedJob {
  readonly state: 'failed';
  readonly failure: JobFailure;
}
