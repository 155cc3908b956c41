import type { TaskInputs } from '../tasks/submission/task-inputs.js';
import type { WebhookSecrets } from '../webhooks/webhook-secrets.js';

/** A column whose texts are sealed. */
export interface SealedColumn {
  readonly table: 'task' | 'webhook_delivery' | 'webhook_endpoint';
  readonly column: 'sealed_input' | 'webhook_secret' | 'sealed_secret';
  /** The column with the id of the task or endpoint for which a text is sealed. */
  readonly owner: 'id' | 'owner_id';
  /** Reseals a text with the first key. Throws SecretBoxError. */
  readonly reseal: (sealed: string, ownerId: string) => string;
}

/** Every column of the database whose texts are sealed. */
export function sealedColumns(inputs: TaskInputs, secrets: WebhookSecrets): SealedColumn[] {
  const ofInput = (sealed: string, id: string) => inputs.reseal(sealed, id);
  const ofWebhook = (sealed: string, id: string) => secrets.reseal(sealed, id);
  return [
    { table: 'task', column: 'sealed_input', owner: 'id', reseal: ofInput },
    { table: 'task', column: 'webhook_secret', owner: 'id', reseal: ofWebhook },
    // Before the deliveries, which get a copy of it or of the secret of their task.
    { table: 'webhook_endpoint', column: 'sealed_secret', owner: 'id', reseal: ofWebhook },
    { table: 'webhook_delivery', column: 'sealed_secret', owner: 'owner_id', reseal: ofWebhook },
  ];
}

/**
 * Condition for texts of the column that are sealed by a key that is not in the parameter ($1, or as named): `v1.<key
 * id>.…`.
 */
export const isOfOtherKey = (column: SealedColumn['column'], keys = '$1'): string =>
  `${column} LIKE 'v1.%' AND substr(${column}, 4, 8) <> ALL (${keys}::text[])`;
