/** A synchronous call whose caller got an error. It must hold nothing and cost nothing. */
export interface CallReversal {
  readonly executionId: string;
  readonly accountId: string;
  readonly apiKeyId: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly errorCode: string;
  readonly provider: string | null;
  readonly providerRequestId: string | null;
}

/** A task whose submission got an error response, although the task may exist. */
export interface TaskReversal {
  readonly taskId: string;
  readonly accountId: string;
  /** What the usage of its charge counts by. Absent in the journal of an earlier version. */
  readonly bought?: {
    readonly apiKeyId: string | null;
    readonly model: string;
    /** Read by processes of version 0.1.0, which derive the endpoint from it. */
    readonly kind: string;
    /** Path of the call. Absent in the journal of version 0.1.0. */
    readonly endpoint?: string;
  };
}

/** The id of a job that a provider accepted, while the database could not store it. */
export interface UnrecordedJob {
  readonly taskId: string;
  readonly accountId: string;
  readonly jobId: string;
  /** Lane and interval for polling the job if its task has ended without a result meanwhile. */
  readonly watchLane: string;
  readonly watchMs: number;
  /** How long before and after this task one was created that may have taken the job by its time. Absent: none can have. */
  readonly othersMs?: number;
}

/** A call or task to undo, or a job id to store. */
export type Reversal = CallReversal | TaskReversal | UnrecordedJob;

/** A unique id of the reversal. */
export function reversalIdOf(reversal: Reversal): string {
  if ('jobId' in reversal) return `job of ${reversal.taskId}`;
  return 'taskId' in reversal ? reversal.taskId : reversal.executionId;
}
