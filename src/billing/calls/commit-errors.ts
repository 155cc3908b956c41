import { GatewayError } from '../../common/errors/gateway-error.js';

const UNAVAILABLE = 'The gateway cannot reach its ledger right now.';
const RETRY_AFTER_SECONDS = 1;

/** 503: the item is not committed and never will be, because it was not sent or the database rolled it back. */
export class NotCommitted extends GatewayError {
  constructor(cause?: unknown) {
    super('service_unavailable', UNAVAILABLE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
  }
}

/** 503: the database did not respond, so it is unknown whether the item was committed. */
export class OutcomeUnknown extends GatewayError {
  constructor(cause: unknown) {
    super('service_unavailable', UNAVAILABLE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
  }
}
