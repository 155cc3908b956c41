import type { JsonObject } from '../common/json-object.js';
import type { ChargeBasis } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { ProviderFault } from '../providers/http/provider-fault.js';

/** States of a task (API: Task states). */
export type TaskStatus =
  'queued' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'reconciliation_required';

/** Code of a task that its provider failed or refused (API: Errors). */
export const TASK_FAILED = 'provider_task_failed';
/** Code of a task that its holder cancelled (decision G-102), or whose submission was answered with an error. */
export const TASK_CANCELLED = 'task_cancelled';

/** Why a task failed; the code is public, the message names no provider. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** The file that a task has made. */
export interface TaskContent {
  /** Id of the stored file. */
  readonly fileId: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Name of the file for downloads. */
  readonly filename: string;
  readonly expiresAt: Date;
}

/** Where the final states of a task are sent, and the encrypted secret that signs them. */
export interface TaskWebhook {
  readonly url: string;
  readonly sealedSecret: string | null;
}

/** What the provider said about the failure of its work, for operators. */
export interface TaskFault extends ProviderFault {
  readonly requestId: string | null;
}

/** What the provider last said about a task that has ended without success. It is only shown (docs/guides/tasks.md, "For operators"). */
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
  readonly status: TaskStatus;
  /** 0 to 100, never falls; null until the provider reports it. */
  readonly progress: number | null;
  /**
   * What the provider is asked to do, as the kind wrote it. Encrypted in the database; only the steps of a kind get it,
   * elsewhere it is empty.
   */
  readonly input: JsonObject;
  /** Facts for the views, kept as long as the task. Under `modelAlias` the name by which the caller ordered, if an alias. */
  readonly details: JsonObject;
  /**
   * What the kind keeps between steps: finished steps, ids of the provider. Under `providerFigures` what the provider said
   * that the work cost (`ProviderFigures`), which operators are shown.
   */
  readonly memory: JsonObject;
  readonly provider: string;
  /** The upstream that has the work. Another upstream with the same name does not know it. */
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
  /** What an operator gave back; null if nothing was. */
  readonly refundedMicroUsd: MicroUsd | null;
  /**
   * How the charge was computed. Null if an operator charged another amount, and for tasks from before this was
   * recorded.
   */
  readonly basis: ChargeBasis | null;
  readonly content: TaskContent | null;
  readonly webhook: TaskWebhook | null;
  readonly evidence: ProviderEvidence | null;
  /** Null if the provider said nothing, or nothing failed. */
  readonly fault: TaskFault | null;
  /** The provider's last word for the state of its job, where the adapter does not know it. */
  readonly unknownState: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

/** The model under the name by which the caller ordered, as callers are shown it. */
export function orderedModelOf({ model, details }: Task): string {
  return typeof details.modelAlias === 'string' ? details.modelAlias : model;
}
