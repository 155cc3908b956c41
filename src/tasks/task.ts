import type { JsonObject } from '../common/json-object.js';
import type {
  AppliedPriceBook,
  ChargeBasis,
  OutputCapReason,
  UnchargedQuantity,
} from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { ProviderFault } from '../providers/http/provider-fault.js';

/** States of a task (API: Task states). */
export type TaskStatus =
  'queued' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'reconciliation_required';

/** What tasks make. */
export const TASK_MODALITIES = ['audio', 'image', 'video', 'text'] as const;
export type TaskModality = (typeof TASK_MODALITIES)[number];

/** Error code of a task that failed at its provider or was refused by it (API: Errors). */
export const TASK_FAILED = 'provider_task_failed';
/** What callers are told of a task whose outcome was unknown and that failed. */
export const UNFINISHED = 'The provider did not finish the task.';
/** Error code of a task that its holder cancelled (decision G-102), or whose submission got an error response. */
export const TASK_CANCELLED = 'task_cancelled';

/** Why a task failed, for callers. The message names no provider. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** The result file of a task. */
export interface TaskContent {
  /** Id of the stored file. */
  readonly fileId: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Whether the stored bytes are sealed, because they are words of the caller. The size is that of the words. */
  readonly isSealed?: boolean;
  /** Name of the file for downloads. */
  readonly filename: string;
  readonly expiresAt: Date;
}

/** The webhook URL of a task and the encrypted secret that signs its deliveries. */
export interface TaskWebhook {
  readonly url: string;
  readonly sealedSecret: string | null;
}

/** What the step state of a text says that a process of the gateway made itself; operators see it. */
export interface MadeTextNotes {
  /** The output cap that the gateway chose, in tokens: known once the work has begun. Absent where the caller named one. */
  readonly outputCap?: number;
  /** What bound that cap, as `task_submit_v2` writes it. */
  readonly outputCapReason?: OutputCapReason;
  /** What was made and not charged, because the answer broke (decision G-103). */
  readonly uncharged?: UnchargedQuantity;
}

/** A route on which a task may be submitted, and what it costs there if it succeeds. `details.routes` has them where there are several. */
export interface TaskRoute {
  readonly provider: string;
  readonly upstreamModel: string;
  /** In micro-USD; null where the route has no cost. */
  readonly cost: string | null;
}

/** The provider's error about its work, for operators. */
export interface TaskFault extends ProviderFault {
  readonly requestId: string | null;
}

/** What the provider last said about a task that had ended without success (docs/guides/tasks.md, "For operators"). */
export interface ProviderEvidence {
  readonly status: string;
  readonly seenAt: Date;
}

/**
 * An asynchronous paid call, from its submission to its end and after. The core keeps its JSON objects unchanged, with
 * their order of keys, and reads none of them. A kind declares their shapes as type aliases, because TypeScript does
 * not accept an interface there.
 */
export interface Task {
  /** UUID; also the id of its hold. Public form: `task_<hex>`. */
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyId: string | null;
  /** Name of its {@link TaskKind}. */
  readonly kind: string;
  /** Public id of the model. */
  readonly model: string;
  /** The caller's own name for the request (decision G-97). */
  readonly clientRequestId: string | null;
  /** The run in which the task counts. */
  readonly run: string | null;
  readonly status: TaskStatus;
  /** 0 to 100, never falls; null until the provider reports it. */
  readonly progress: number | null;
  /**
   * The input for the provider, as the kind wrote it. Encrypted in the database; decrypted only for the steps of the kind,
   * elsewhere empty.
   */
  readonly input: JsonObject;
  /** Facts for the views, kept as long as the task. `modelAlias` is the model name that the caller used, if it is an alias. */
  readonly details: JsonObject;
  /**
   * What the kind stores between steps: finished steps, ids of the provider. `providerFigures` has the cost figures that the
   * provider reported (`ProviderFigures`), which operators see. The column is called `memory`.
   */
  readonly stepState: JsonObject;
  readonly provider: string;
  /**
   * The upstream that has the job: a base URL, with the id of a key where the provider had several (`JobUpstreams`).
   * Another upstream with the same name does not know the job.
   */
  readonly providerBaseUrl: string;
  /** Whether that upstream is the sandbox. */
  readonly onSandbox: boolean;
  readonly upstreamModel: string;
  readonly providerJobId: string | null;
  /** Null until success. */
  readonly result: JsonObject | null;
  /** Null unless failed. */
  readonly error: TaskError | null;
  readonly reservedMicroUsd: MicroUsd;
  /** Null until settled. */
  readonly chargedMicroUsd: MicroUsd | null;
  /** What the task costs by its route if it succeeds; null where the route has no cost. */
  readonly routeCostMicroUsd: MicroUsd | null;
  /** What the task cost at its provider; null where that is not known. */
  readonly costMicroUsd: MicroUsd | null;
  /** What an operator refunded; null if nothing. */
  readonly refundedMicroUsd: MicroUsd | null;
  /**
   * How the charge was computed. Null if an operator charged another amount, and for tasks from before this was
   * recorded.
   */
  readonly basis: ChargeBasis | null;
  /** The price book by which the task was priced; null = the list. */
  readonly priceBook: AppliedPriceBook | null;
  readonly content: TaskContent | null;
  readonly webhook: TaskWebhook | null;
  readonly evidence: ProviderEvidence | null;
  /** Null if nothing failed or the provider reported no error. */
  readonly fault: TaskFault | null;
  /** The provider's last reported state of the job, if the adapter does not know that state. */
  readonly unknownState: string | null;
  /** Whether its holder asked to cancel it while a process ran it. */
  readonly isCancelAsked: boolean;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

/** The model name that the caller used, as views show it. */
export function orderedModelOf({ model, details }: Task): string {
  return typeof details.modelAlias === 'string' ? details.modelAlias : model;
}
