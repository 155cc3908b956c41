import type { SecretBox } from '../common/secrets/secret-box.js';
import { contextOfAnswer } from '../platform/http-server/responses/answer-copy.js';
import type { StoredContent } from '../stored-responses/stored-content.js';
import type { TaskInputs } from '../tasks/submission/task-inputs.js';
import type { WebhookSecrets } from '../webhooks/webhook-secrets.js';

/** A column whose texts are sealed. */
export interface SealedColumn {
  readonly table:
    | 'task'
    | 'webhook_delivery'
    | 'webhook_endpoint'
    | 'stored_item'
    | 'stored_response'
    | 'kept_answer';
  readonly column:
    | 'sealed_input'
    | 'webhook_secret'
    | 'sealed_secret'
    | 'sealed_item'
    | 'sealed_response'
    | 'sealed_answer';
  /** The column with the id of the task or endpoint for which a text is sealed. */
  readonly owner: 'id' | 'owner_id';
  /** Reseals a text with the first key. Throws SecretBoxError. */
  readonly reseal: (sealed: string, ownerId: string) => string;
  /** Rows that are resealed by one statement. */
  readonly batch: number;
}

const SECRETS = 500;
/** A stored message may have megabytes. */
const CONTENTS = 20;

/** Every column of the database whose texts are sealed. */
export function sealedColumns(
  inputs: TaskInputs,
  secrets: WebhookSecrets,
  content: StoredContent,
  box: SecretBox,
): SealedColumn[] {
  const ofInput = (sealed: string, id: string) => inputs.reseal(sealed, id);
  const ofWebhook = (sealed: string, id: string) => secrets.reseal(sealed, id);
  const ofItem = (sealed: string, id: string) => content.reseal('item', sealed, id);
  const ofResponse = (sealed: string, id: string) => content.reseal('response', sealed, id);
  const ofAnswer = (sealed: string, id: string) => box.reseal(sealed, contextOfAnswer(id));
  const own = { owner: 'id', batch: SECRETS } as const;
  const stored = { owner: 'id', batch: CONTENTS } as const;
  return [
    { ...own, table: 'task', column: 'sealed_input', reseal: ofInput },
    { ...own, table: 'task', column: 'webhook_secret', reseal: ofWebhook },
    // Before the deliveries, which get a copy of it or of the secret of their task.
    { ...own, table: 'webhook_endpoint', column: 'sealed_secret', reseal: ofWebhook },
    {
      ...own,
      table: 'webhook_delivery',
      column: 'sealed_secret',
      owner: 'owner_id',
      reseal: ofWebhook,
    },
    { ...stored, table: 'stored_item', column: 'sealed_item', reseal: ofItem },
    { ...stored, table: 'stored_response', column: 'sealed_response', reseal: ofResponse },
    { ...stored, table: 'kept_answer', column: 'sealed_answer', reseal: ofAnswer },
  ];
}

/**
 * Condition for texts of the column that are sealed by a key that is not in the parameter ($1, or as named): `v1.<key
 * id>.…`. Of a long text only the beginning is read.
 */
export const isOfOtherKey = (column: SealedColumn['column'], keys = '$1'): string =>
  `substr(${column}, 1, 3) = 'v1.' AND substr(${column}, 4, 8) <> ALL (${keys}::text[])`;
