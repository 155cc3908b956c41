import type { MicroUsd } from '../common/money/micro-usd.js';

/**
 * A JSON object that the core stores for a kind without looking into it. Its key order is kept. Write its shapes as type
 * aliases, which TypeScript takes for one; an interface it does not.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Where a task stands (spec: Task states). */
export type TaskStatus =
  'queued' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'reconciliation_required';

/** Why a task failed; the code is public, the message names no provider. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** The file a task has made. */
export interface TaskContent {
  /** Id of the stored file. */
  readonly fileId: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Name offered to whoever downloads it. */
  readonly filename: string;
  readonly expiresAt: Date;
}

/** Where a task's final states are told, and the sealed secret that signs it. */
export interface TaskWebhook {
  readonly url: string;
  readonly sealedSecret: string | null;
}

/** What the provider last said about a task whose outcome is unknown; only shown (interface: Operator API). */
export interface ProviderEvidence {
  readonly status: string;
  readonly seenAt: Date;
}

/** An asynchronous paid call, from its submission to its end and after. */
export interface Task {
  /** UUID; also the id of its hold. Public form: `task_<hex>`. */
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyId: string | null;
  /** Name of its {@link TaskKind}. */
  readonly kind: string;
  /** Public id of the model. */
  readonly model: string;
  readonly status: TaskStatus;
  /** 0 to 100, never falls; null until the provider reports it. */
  readonly progress: number | null;
  /** What the provider is asked to do, as the kind wrote it. Sealed at rest, empty once the task has ended. */
  readonly input: JsonObject;
  /** Facts that the views need for as long as the task is kept. */
  readonly details: JsonObject;
  /** What the kind keeps between steps: finished steps, ids of the provider. */
  readonly memory: JsonObject;
  readonly provider: string;
  /** The upstream that has the work; another one under the same name knows nothing of it. */
  readonly providerBaseUrl: string;
  readonly upstreamModel: string;
  readonly providerJobId: string | null;
  /** Null until success. */
  readonly result: JsonObject | null;
  /** Null unless failed. */
  readonly error: TaskError | null;
  readonly reservedMicroUsd: MicroUsd;
  /** Null until settled. */
  readonly chargedMicroUsd: MicroUsd | null;
  readonly content: TaskContent | null;
  readonly webhook: TaskWebhook | null;
  readonly evidence: ProviderEvidence | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}
