import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { Route } from '../../providers/ports/route.js';
import type { Quote } from '../../common/money/charge-basis.js';
import type { JsonObject } from '../../common/json-object.js';

/** A submission whose text has been checked. */
export interface TaskRequest {
  readonly call: AdmittedCall;
  /** Name of the registered kind. */
  readonly kind: string;
  /** The parsed body, for the comparison of two submissions with one idempotency key. */
  readonly body: object;
  /** From `@IdempotencyKey()`. */
  readonly idempotencyKey: string | undefined;
  readonly webhook: { readonly url: string; readonly secret: string | undefined } | undefined;
}

/** What is known of a task once its sources were found, fetched and measured. */
export interface PreparedTask {
  readonly input: JsonObject;
  readonly details: JsonObject;
  readonly quote: Quote;
  readonly route: Route;
  /** Undoes the preparation (a stored source, for example) when no task is created. */
  readonly discard?: () => Promise<void>;
}
