import type { ChargeBasis } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { JsonObject } from '../common/json-object.js';
import type { MadeWithin } from '../providers/ports/job.port.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import type { AttemptOwner, OnFigures, Route } from '../providers/ports/attempt.js';
import type { Task, TaskContent, TaskFault, TaskModality, TaskStatus } from './task.js';

/** What every step gets besides its task. */
export interface TaskContext {
  /**
   * Aborts when the shutdown timeout has passed or another process took over the task. The step's outcome is then ignored.
   */
  readonly signal: AbortSignal;
  /** The route of the task, for `ProviderRouter.runOn`. */
  readonly route: Route;
  /** The key of the provider with which the job was begun; undefined: the first. See {@link AttemptOwner}. */
  readonly keyId?: AttemptOwner['keyId'];
  readonly isFollowUp?: AttemptOwner['isFollowUp'];
  /** The account that submitted the task. Failures at the provider count against it. */
  readonly accountId: string;
  /** The step asks for what the provider need not do: a failure says nothing of the operation. See {@link AttemptOwner}. */
  readonly isUnguarded?: true;
  /** See {@link AttemptOwner}. */
  readonly mayStillSend?: AttemptOwner['mayStillSend'];
  /** Receives the cost figures that the provider reports. */
  readonly onFigures?: OnFigures | undefined;
  /** Receives the attempts at the provider. */
  readonly onAttemptEnd?: AttemptOwner['onAttemptEnd'] | undefined;
  /** Receives the output cap in tokens that the gateway chose (decision G-106). */
  readonly onOutputCap?: ((tokens: number) => void) | undefined;
}

/** A charge that is known only at the end. */
export interface TaskBill {
  /** At most what is held. */
  readonly chargedMicroUsd: MicroUsd;
  readonly basis: ChargeBasis;
  /** Null: not known. */
  readonly costMicroUsd: MicroUsd | null;
}

/** What is told and stored with the end of a task, for kinds whose answers are kept outside of the task. */
export interface TaskEnding {
  /** The body of the webhook. */
  readonly told: object;
  /** The response for the SQL function `response_store`, as JSON; null: nothing is stored. */
  readonly stored: JsonObject | null;
}

/** A failure. Callers see `message`, which names no provider; operators see `fault`. */
export interface FailedReport {
  readonly state: 'failed';
  readonly message: string;
  /** Default `provider_task_failed`. */
  readonly code?: string;
  readonly fault?: TaskFault;
  readonly stepState?: JsonObject;
  /** What was made nevertheless costs at the provider, where the process that made it knows. Default: what the provider reported. */
  readonly costMicroUsd?: MicroUsd | null;
}

/** The outcome of a submission to the provider. A given `stepState` replaces the former one. */
export type SubmitReport =
  /** The provider has a job. The task is `processing` and is polled. */
  | {
      readonly state: 'accepted';
      readonly jobId: string;
      readonly stepState?: JsonObject;
      /** How a job was found whose submission was lost, for operators. */
      readonly evidence?: string;
    }
  /** One of several paid steps is done and stored in `stepState`. `submit` is called again for the next step. */
  | { readonly state: 'step'; readonly stepState: JsonObject }
  /** The provider responded with the result. */
  | {
      readonly state: 'done';
      readonly result: JsonObject;
      readonly stepState?: JsonObject;
      /** What is charged, where that is known only at the end. Default: the whole hold. */
      readonly bill?: TaskBill;
      /** What `ending` tells and stores. */
      readonly answer?: object;
      /** The stored file, where the work is done within `submit`. */
      readonly content?: TaskContent;
    }
  /** The provider certainly refused the work and does not charge for it. */
  | FailedReport;

/**
 * What a provider says that was asked for a job by our own reference, or by the time and the fields of its submission (`isByTime`).
 * `unknown`: it did not say.
 */
export type FoundJob =
  | { readonly state: 'found'; readonly jobId: string; readonly isByTime: boolean }
  | { readonly state: 'absent'; readonly isByTime: boolean }
  | { readonly state: 'unknown' };

/** The provider's report about a job. */
export type PollReport =
  /**
   * Not finished, or an unknown state, given as `unknownState`. `progress` is 0 to 100, or null if none is reported; fractions
   * are cut off.
   */
  | {
      readonly state: 'pending';
      readonly progress: number | null;
      readonly unknownState?: string;
      readonly stepState?: JsonObject;
    }
  /** Finished. `progress` is 100 if the provider reports progress (decision G-64). */
  | {
      readonly state: 'succeeded';
      readonly result: JsonObject;
      readonly progress?: number | null;
      readonly stepState?: JsonObject;
    }
  /**
   * Finished, but the result cannot be read. The job is polled 5 times, then the task is `reconciliation_required`.
   */
  | { readonly state: 'unreadable' }
  /** The job failed or was cancelled. */
  | FailedReport;

/** A stored result file. `result`, if given, replaces the result that `poll` reported. */
export interface CollectedContent {
  readonly content: TaskContent;
  readonly result?: JsonObject;
}

/**
 * One kind of task, registered by its feature with `TaskKinds.register(kind)` in `onModuleInit`. The core knows nothing else
 * about it. Two workers may run the same step, but the outcome of only one is stored.
 *
 * What a step throws:
 * - `submit`, a ProviderError that was never sent, or with status 401, 402, 403, 429 or 503: called again at once with the next key or
 *   route of the task, which `context` names, if there is one;
 * - `submit`, a ProviderError that was never sent, or with status 429, 499 or 503: deferred and retried after 1, 2, 4, then
 *   every 5 s for 10 minutes, then `failed`;
 * - `submit`, another 4xx, or a 5xx with a code in the provider's own JSON shape: `failed`; a refusal after a put-off that may have
 *   begun the work only once `find`, where there is one, finds no job;
 * - `submit`, anything else, errors of our own too: the provider may have begun the work, so it is never sent again:
 *   `find` decides, where there is one, and else the task becomes `reconciliation_required`;
 * - `poll`, a ProviderError: polled again at the usual interval, until the deadline;
 * - `poll`, anything else five times in a row: `reconciliation_required`;
 * - `collect`, an UnusableFileError or a ProviderError that says there is no such file, five times in a row:
 *   `reconciliation_required`; anything else is retried with growing delays for 10 minutes before that.
 */
export interface TaskKind {
  /** `dubbing`, `song`, `video`; stored with every task. */
  readonly name: string;
  readonly operation: Operation;
  readonly modality: TaskModality;
  /** Most tasks of this kind that one account may have open; beyond it 429. Undefined: what it can hold. */
  readonly maxOpenPerAccount?: number | undefined;
  /** What the tasks are called in that error. */
  readonly plural?: string;
  /** Submits the work to the provider, once. */
  submit(task: Task, context: TaskContext): Promise<SubmitReport>;
  /**
   * Asks the provider whether it has the job of a submission whose answer was lost. Undefined where it cannot be asked; then the
   * outcome is unknown. `made` is when the job can have been made; without it, a provider is asked by our reference only. Throws where
   * the provider does not say.
   */
  find?(task: Task, context: TaskContext, made?: MadeWithin): Promise<FoundJob | undefined>;
  /**
   * Deletes data that only the submission needed, once the job id is stored with the task. Never throws. It is not called after
   * a crash.
   */
  accepted?(task: Task): Promise<void>;
  /** Polls the provider for the state of the job. */
  poll(task: Task, context: TaskContext): Promise<PollReport>;
  /** Fetches and stores the file after success; `task.result` holds what `poll` reported. May run again after a crash. */
  collect?(task: Task, context: TaskContext): Promise<CollectedContent>;
  /**
   * Asks the provider to stop the job of a task that was given up while it may still run. Tried at most once. The first
   * error of a provider in a minute is logged as a warning.
   */
  cancelAtProvider?(task: Task, context: TaskContext): Promise<void>;
  /**
   * Deletes the job at the provider, after a task with a collected file has ended. As {@link cancelAtProvider}.
   */
  deleteAtProvider?(task: Task, context: TaskContext): Promise<void>;
  /**
   * Deletes data that only the work needed, after every completion, in the process that completed the task. Never throws. It is
   * not called after a crash.
   */
  ended?(task: Task): Promise<void>;
  /** What is told and stored with the end; `task` has ended, `answer` is that of `submit`, if it was done. Default: {@link view} is told. */
  ending?(task: Task, answer: object | undefined): Promise<TaskEnding>;
  /** The body of `GET /v1/tasks/{id}` and of the webhook. The same task gives the same bytes. */
  view(task: Task): object;
  /**
   * Completes the result that an operator gave for a resolved task; `given` is empty if there was none. Undefined if it is not
   * a valid result of this kind. Default: any object is valid.
   */
  resolvedResult?(task: Task, given: JsonObject): JsonObject | undefined;
  /**
   * Whether this final status is reported to the customer: it sends the webhook and ends `Prefer: wait`. Default: every final
   * status (decisions G-55, G-58, G-98).
   */
  notifiesOn?(status: TaskStatus): boolean;
  /**
   * Where the file is served. `task`: under `/v1/tasks/{id}/content`. `elsewhere`: that path is always 404
   * `content_not_available`. Absent: that path is 409 until success, then 404 (decisions G-56, G-63).
   */
  readonly contentAt?: 'task' | 'elsewhere';
}
