/** A synchronous call whose caller was told of failure, and that must hold nothing and cost nothing. */
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

/** A task whose submission was answered with a failure, although it may have been made. */
export interface OwedTask {
  readonly taskId: string;
  readonly accountId: string;
}

/** What is to be cancelled, whatever became of it. */
export type Owed = OwedCall | OwedTask;

/** The id of what is owed. */
export function owedIdOf(owed: Owed): string {
  return 'taskId' in owed ? owed.taskId : owed.executionId;
}
