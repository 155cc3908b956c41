import { GatewayError } from '../../common/errors/gateway-error.js';

const UNAVAILABLE = 'The gateway cannot reach its ledger right now.';
const RETRY_AFTER_SECONDS = 1;

/** 503: the item is not committed and never will be: it was not sent to the database, or the database rolled it back. */
export class NotCommitted extends GatewayError {
  constructor(cause?: unknown) {
    super('service_unavailable', UNAVAILABLE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
  }
}

/** 503: the database never answered, so the caller cannot know whether the item was committed. */
export class OutcomeUnknown extends GatewayError {
  constructor(cause: unknown) {
    super('service_unavailable', UNAVAILABLE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
  }
}
