import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { CostedRoute } from '../../catalog/route-cost.js';
import type { OutputCapReason, Quote } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { ApiFamily } from '../../common/errors/api-family.js';
import type { JsonObject } from '../../common/json-object.js';

/** A submission with validated fields. */
export interface TaskRequest {
  readonly call: AdmittedCall;
  /** Name of the registered kind. */
  readonly kind: string;
  /** The parsed body. Submissions with the same idempotency key are compared by it. */
  readonly body: object;
  /** From `@IdempotencyKey()`. */
  readonly idempotencyKey: string | undefined;
  readonly webhook: { readonly url: string; readonly secret: string | undefined } | undefined;
  /** By whose rules the webhook is checked. Default: those of the endpoint. */
  readonly family?: ApiFamily;
}

/** A task after its sources were found, fetched and measured. */
export interface PreparedTask {
  readonly input: JsonObject;
  readonly details: JsonObject;
  readonly quote: Quote;
  readonly route: CostedRoute;
  /** Further routes that can do all of it, tried in this order where one before refuses the work before it can have begun. */
  readonly others?: readonly CostedRoute[];
  /** The only upstream of the provider where it can be done, because that has what the work needs. */
  readonly upstream?: string | undefined;
  /** Told what is held, in micro-USD, and what bound it, where the quote holds what fits. */
  readonly onFitted?: (reservedMicroUsd: MicroUsd, reason: OutputCapReason) => void;
  /** Undoes the preparation if no task is created, for example deletes a stored source. */
  readonly discard?: () => Promise<void>;
}
