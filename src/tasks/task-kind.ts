import type { JsonObject } from '../common/json-object.js';
import type { Operation } from '../providers/ports/operation.js';
import type { OnFigures } from '../providers/ports/attempt-context.js';
import type { Route } from '../providers/ports/route.js';
import type { Task, TaskContent, TaskFault, TaskStatus } from './task.js';

/** What every step gets in addition to its task. */
export interface TaskContext {
  /**
   * Aborted when the gateway's drain is over or the task was taken over. The outcome of the step does not count any
   * more.
   */
  readonly signal: AbortSignal;
  /** The route of the task, for `ProviderRouter.runOn`. */
  readonly route: Route;
  /** The account that submitted the task. Failures at the provider count against it. */
  readonly accountId: string;
  /** Told what the provider says that an answer cost. */
  readonly onFigures?: OnFigures | undefined;
}

/** A failure: what callers read, which names no provider, and what operators read. */
export interface FailedReport {
  readonly state: 'failed';
  readonly message: string;
  readonly fault?: TaskFault;
}

/** The outcome of a submission to the provider. A `memory` replaces the one before. */
export type SubmitReport =
  /** The provider has a job. The task is `processing` and is polled. */
  | { readonly state: 'accepted'; readonly jobId: string; readonly memory?: JsonObject }
  /** One paid step of several is done and remembered. `submit` is called again for the next step. */
  | { readonly state: 'step'; readonly memory: JsonObject }
  /** The provider answered with the result. */
  | { readonly state: 'done'; readonly result: JsonObject; readonly memory?: JsonObject }
  /** The provider certainly refused and will not charge. */
  | FailedReport;

/** What the provider says about a job. */
export type PollReport =
  /**
   * Not finished, or an unknown state, which is told. `progress` is 0 to 100, or null where none is reported; its fraction is cut.
   */
  | {
      readonly state: 'pending';
      readonly progress: number | null;
      readonly unknownState?: string;
      readonly memory?: JsonObject;
    }
  /** Finished. `progress` is 100 if the provider reports progress (decision G-64). */
  | {
      readonly state: 'succeeded';
      readonly result: JsonObject;
      readonly progress?: number | null;
      readonly memory?: JsonObject;
    }
  /**
   * Finished, but the result cannot be read. The provider is asked 5 times, then the task is `reconciliation_required`.
   */
  | { readonly state: 'unreadable' }
  /** The job failed or was cancelled. */
  | FailedReport;

/** A finished file that was stored. `result` replaces what `poll` reported, if the file tells more. */
export interface CollectedContent {
  readonly content: TaskContent;
  readonly result?: JsonObject;
}

/**
 * One kind of task, registered by its feature: `TaskKinds.register(kind)` in `onModuleInit`. The core knows nothing else
 * about it. No step is ever run by two workers whose outcomes both count.
 *
 * What a step throws:
 * - `submit`, a ProviderError that was never sent, or with status 429, 499 or 503: put off and tried again after 1, 2, 4,
 *   then every 5 s for 10 minutes, then `failed`;
 * - `submit`, another 4xx, or a 5xx with a code in the provider's own JSON shape: `failed`;
 * - `submit`, anything else, errors of our own too: the provider may have begun the work, so it is never sent again
 *   and the task becomes `reconciliation_required`;
 * - `poll`, a ProviderError: asked again at the usual pace, until the deadline;
 * - `poll`, anything else five times in a row: `reconciliation_required`;
 * - `collect`, an UnusableFileError or a ProviderError that says there is no such file, five times in a row:
 *   `reconciliation_required`; anything else is tried again at a growing pace for 10 minutes before that.
 */
export interface TaskKind {
  /** `dubbing`, `song`, `video`; stored with every task. */
  readonly name: string;
  readonly operation: Operation;
  readonly modality: 'audio' | 'video';
  /** Submits the work to the provider, once. */
  submit(task: Task, context: TaskContext): Promise<SubmitReport>;
  /**
   * Deletes what only the submission needed, once the provider's job is stored with the task. Never throws. After a crash it
   * is not called.
   */
  accepted?(task: Task): Promise<void>;
  /** Asks the provider for the state of the job. */
  poll(task: Task, context: TaskContext): Promise<PollReport>;
  /** Fetches and stores the file after success; `task.result` holds what `poll` reported. May run again after a crash. */
  collect?(task: Task, context: TaskContext): Promise<CollectedContent>;
  /**
   * Asks the provider to delete what it keeps, after the end of a task whose file was collected. Tried once; what it
   * throws is logged.
   */
  deleteAtProvider?(task: Task, context: TaskContext): Promise<void>;
  /**
   * Deletes what only the work needed, after every end of a task, in the process that ended it. Never throws. After a crash it is
   * not called.
   */
  ended?(task: Task): Promise<void>;
  /** The very object that `GET /v1/tasks/{id}` answers and the webhook carries: the same task gives the same bytes. */
  view(task: Task): object;
  /**
   * The result of a task that the operator resolved as succeeded: `given` (empty if the operator gave none), completed.
   * Undefined if it is no valid result of this kind. Without this method any object is valid.
   */
  resolvedResult?(task: Task, given: JsonObject): JsonObject | undefined;
  /**
   * Whether this final state is an end for the task's holder: a webhook is sent, and readers who wait for the end are
   * answered. Without this method, each is (decisions G-55, G-58, G-98).
   */
  notifiesOn?(status: TaskStatus): boolean;
  /**
   * Where the file is served. `task`: under `/v1/tasks/{id}/content`. `elsewhere`: that path is always 404
   * `content_not_available`. Absent: that path is 409 until success, then 404 (decisions G-56, G-63).
   */
  readonly contentAt?: 'task' | 'elsewhere';
}
