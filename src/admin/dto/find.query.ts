import { Text } from '../../common/validation/fields.js';

const MAX_FOUND_ID = 200;
const MAX_ID = 100;

/** Query of GET /admin/find. */
export class FindQuery {
  @Text({
    max: MAX_FOUND_ID,
    description:
      'An id of any kind, an id of an answer such as `chatcmpl-…`, `resp_…` or `msg_…`, a client request id, or the idempotency key of a credit',
    example: 'exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
  })
  id!: string;

  @Text({ max: MAX_ID, optional: true, description: 'Only what is of this account, by its id' })
  account_id?: string;
}
