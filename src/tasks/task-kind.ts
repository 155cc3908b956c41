import type { JsonObject } from '../common/json-object.js';
import type { Operation } from '../providers/ports/operation.js';
import type { StopSignal } from '../common/stop-signal.js';
import type { Route } from '../providers/ports/route.js';
import type { Task, TaskContent } from './task.js';

/** What every step gets besides its task. */
export interface TaskContext {
  /** Aborted when the gateway shuts down for good or the task was taken over; the step's outcome no longer counts then. */
  readonly signal: StopSignal;
  /** The route the task is pinned to, for `ProviderRouter.runOn`. */
  readonly route: Route;
  /** The key that submitted the task; null once it is gone. Failures at the provider count against it. */
  readonly apiKeyId: string | null;
}

/** What came of asking the provider to do the work. A `memory` replaces the one before. */
export type SubmitReport =
  /** The provider has a job: the task is `processing` and polled from now on. */
  | { readonly state: 'accepted'; readonly jobId: string; readonly memory?: JsonObject }
  /** One paid step of several is done and remembered: `submit` is called again for the next. */
  | { readonly state: 'step'; readonly memory: JsonObject }
  /** The provider answered at once. */
  | { readonly state: 'done'; readonly result: JsonObject; readonly memory?: JsonObject }
  /** The provider refused for sure and will not bill; the message names no provider. */
  | { readonly state: 'failed'; readonly message: string };

/** What the provider says about its job. */
export type PollReport =
  /** Not done, or a state we do not know. `progress` 0 to 100, null where none is reported; it is cut to whole numbers. */
  | { readonly state: 'pending'; readonly progress: number | null; readonly memory?: JsonObject }
  /** Done. `progress` 100 where the provider reports progress at all (decision G-64). */
  | {
      readonly state: 'succeeded';
      readonly result: JsonObject;
      readonly progress?: number | null;
      readonly memory?: JsonObject;
    }
  /** Done, without a result that can be read: asked 5 times, then `reconciliation_required`. */
  | { readonly state: 'unreadable' }
  /** Failed or cancelled there; the message names no provider. */
  | { readonly state: 'failed'; readonly message: string };

/** A finished file, stored. `result` replaces what `poll` reported where the file tells more. */
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
 * - `submit`, anything else, errors of our own too: nobody knows what was started, so it is never sent again and the task
 *   becomes `reconciliation_required`;
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
  /** Asks the provider to do the work, once. */
  submit(task: Task, context: TaskContext): Promise<SubmitReport>;
  /** Asks the provider how far it is. */
  poll(task: Task, context: TaskContext): Promise<PollReport>;
  /** Fetches and stores the file after success; `task.result` holds what `poll` reported. May run again after a crash. */
  collect?(task: Task, context: TaskContext): Promise<CollectedContent>;
  /** After the end of a collected task: has the provider remove what it keeps of it. Tried once; what it throws is logged. */
  tidy?(task: Task, context: TaskContext): Promise<void>;
  /** The very object that `GET /v1/tasks/{id}` answers and the webhook carries: the same task gives the same bytes. */
  view(task: Task): object;
  /**
   * The result of a task that its operator resolved as succeeded: `given` (empty where the operator gave none), made whole;
   * undefined where it is no result of this kind. Absent: any object is one.
   */
  resolvedResult?(task: Task, given: JsonObject): JsonObject | undefined;
  /** Whether the webhook is told of the final state the task has reached; absent: of each (decisions G-55, G-58). */
  tellsOf?(task: Task): boolean;
  /**
   * Where the file is served. `task`: under `/v1/tasks/{id}/content`. `elsewhere`: that path is always 404
   * `content_not_available`. Absent: that path is 409 until success, then 404 (decisions G-56, G-63).
   */
  readonly contentAt?: 'task' | 'elsewhere';
}
