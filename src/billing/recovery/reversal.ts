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

/** A task whose submission was answered with an error, although it may exist. */
export interface TaskReversal {
  readonly taskId: string;
  readonly accountId: string;
  /** Whose usage its charge is; the journal of an earlier version does not say it. */
  readonly bought?: {
    readonly apiKeyId: string | null;
    readonly model: string;
    readonly kind: string;
  };
}

/** The id of a job that a provider accepted, while the database does not take it. */
export interface UnrecordedJob {
  readonly taskId: string;
  readonly accountId: string;
  readonly jobId: string;
  /** Where the job is watched if its task has been given up meanwhile, and how often. */
  readonly watchLane: string;
  readonly watchMs: number;
}

/** What has to be cancelled, or written, whatever happened to it. */
export type Reversal = CallReversal | TaskReversal | UnrecordedJob;

/** The id of what is owed. */
export function reversalIdOf(owed: Reversal): string {
  if ('jobId' in owed) return `job of ${owed.taskId}`;
  return 'taskId' in owed ? owed.taskId : owed.executionId;
}
