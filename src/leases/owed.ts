/** A synchronous call whose caller got an error. It must hold nothing and cost nothing. */
export interface OwedCall {
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
export interface OwedTask {
  readonly taskId: string;
  readonly accountId: string;
  /** Whose usage its charge is; the journal of an earlier version does not say it. */
  readonly bought?: {
    readonly apiKeyId: string | null;
    readonly model: string;
    readonly kind: string;
  };
}

/** What has to be cancelled, whatever happened to it. */
export type Owed = OwedCall | OwedTask;

/** The id of what has to be cancelled. */
export function owedIdOf(owed: Owed): string {
  return 'taskId' in owed ? owed.taskId : owed.executionId;
}
