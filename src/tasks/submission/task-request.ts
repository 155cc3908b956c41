import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { Route } from '../../providers/ports/route.js';
import type { Quote } from '../../common/money/charge-basis.js';
import type { JsonObject } from '../../common/json-object.js';

/** A submission whose fields have been checked. */
export interface TaskRequest {
  readonly call: AdmittedCall;
  /** Name of the registered kind. */
  readonly kind: string;
  /** The parsed body; two submissions with one idempotency key are compared by it. */
  readonly body: object;
  /** From `@IdempotencyKey()`. */
  readonly idempotencyKey: string | undefined;
  readonly webhook: { readonly url: string; readonly secret: string | undefined } | undefined;
}

/** What is known of a task after its sources were found, fetched and measured. */
export interface PreparedTask {
  readonly input: JsonObject;
  readonly details: JsonObject;
  readonly quote: Quote;
  readonly route: Route;
  /** Undoes the preparation (deletes a stored source, for example) if no task is created. */
  readonly discard?: () => Promise<void>;
}
