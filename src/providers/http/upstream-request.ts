import type { Readable } from 'node:stream';
import type { AttemptContext } from '../ports/attempt.js';
import type { OwnErrors } from './error-classification.js';
import type { FormFields, RequestBody } from './request-body.js';
import type { UpstreamTimeoutName } from './upstream-timeouts.js';

/** What a wire protocol adds to every request. */
export interface WireProtocol {
  /** Headers of every request; they hold the key, if there is one. */
  readonly headers: Readonly<Record<string, string>>;
  /** The meaning of errors that only this protocol has. */
  readonly ownErrors?: OwnErrors;
}

/** One request to a provider. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base URL, with its query. */
  readonly path: string;
  /** Stands in place of the base URL. The adapter has checked that it may get the key. */
  readonly origin?: string | undefined;
  /** Settings that the protocol has in the query: the terms of the model are for them, and the body is sent as it is. */
  readonly query?: FormFields;
  readonly body?: RequestBody;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeout: UpstreamTimeoutName;
  /** Its owner is told the cost that the headers and the JSON of a 2xx response report. */
  readonly context: Pick<AttemptContext, 'signal' | 'terms' | 'owner'>;
  /** Return the target of a redirect instead of treating the redirect as a failure. It is not followed. */
  readonly mayRedirect?: true;
}

/** A 2xx response whose body is not read yet. The body fails with a {@link ProviderError}. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly providerRequestId: string | null;
  readonly body: Readable;
  /** The target of a redirect, for requests that allow one. */
  readonly redirectUrl?: string | undefined;
}
