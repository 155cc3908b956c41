import { MAX_ID_CHARS } from '../../common/ids/public-id.js';
import { Text } from '../../common/validation/fields.js';

const MAX_FOUND_ID = 200;

/** Query of GET /admin/find. */
export class FindQuery {
  @Text({
    max: MAX_FOUND_ID,
    description:
      'An id of any kind, an id of an answer such as `chatcmpl-…`, `resp_…` or `msg_…`, a client request id, or the idempotency key of a credit',
    example: 'exec_0193a5e2f0c47b1d8e6f5a4b3c2d1e1f',
  })
  id!: string;

  @Text({
    max: MAX_ID_CHARS,
    optional: true,
    description: 'Only what is of this account, by its id',
  })
  account_id?: string;
}
