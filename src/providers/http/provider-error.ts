import type { ErrorCode } from '../../common/errors/error-table.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { ProviderErrorKind } from '../ports/attempt.js';
import { loggedCodeOf, publicWordOf } from './code-word.js';

/**
 * Facts about a failed attempt. Only `upstreamMessage` contains text of the provider; no key and no host is in any of
 * them.
 */
export interface ProviderErrorDetail {
  readonly provider: string;
  /** Whether the provider may have received the request. */
  readonly sent: boolean;
  readonly upstreamStatus?: number | undefined;
  /** The error code of the provider or the transport, as it was written. */
  readonly upstreamCode?: string | undefined;
  /** Path of the field that the provider rejects, as the provider writes it. */
  readonly upstreamParam?: string | undefined;
  /** The provider's own message. It is for the operator's record, never for logs or callers. */
  readonly upstreamMessage?: string | undefined;
  readonly providerRequestId?: string | null | undefined;
  /** Whole seconds, if the provider named them. */
  readonly retryAfterSeconds?: number | undefined;
  /** Whether the provider refused the content; of a rejection only. */
  readonly isContentRefusal?: boolean | undefined;
}

const ADVICE = ' Retry later.';

/**
 * Public code and message of each kind (decisions G-09, G-13). A problem with our own account looks like an outage to
 * the caller.
 */
const PUBLIC_FACE: Readonly<Record<ProviderErrorKind, readonly [ErrorCode, string]>> = {
  rejected: ['provider_rejected_request', 'The provider refused the request.'],
  too_long: [
    'provider_rejected_request',
    'The provider refused the request: the text is too long.',
  ],
  rate_limited: ['provider_rate_limited', `The provider limits the rate of requests.${ADVICE}`],
  timeout: ['provider_timeout', 'The provider did not answer in time.'],
  http_error: ['provider_http_error', 'The provider failed to answer the request.'],
  unavailable: ['provider_unavailable', 'The model is not available right now.'],
  account: ['provider_unavailable', 'The model is not available right now.'],
  misconfigured: ['no_eligible_route', 'No route is available for this model.'],
};

/** The code word for refused content, whatever the provider's own is: callers may branch on it. */
const CONTENT_REFUSED = 'content_policy_violation';
const DEFAULT_RETRY_AFTER_SECONDS = 5;
const MAX_RETRY_AFTER_SECONDS = 60;

/** These kinds mean that the provider has done nothing, so asking another route cannot cost twice. */
const NOTHING_DONE: readonly ProviderErrorKind[] = [
  'rate_limited',
  'unavailable',
  'misconfigured',
  'account',
];

/**
 * A failed attempt. The message may be logged: it holds provider id, kind, status and code only, and of the code nothing
 * that is no plain word or number. It has no `cause`, because errors of the transport hold hosts and request headers.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly provider: string;
  readonly sent: boolean;
  readonly upstreamStatus: number | undefined;
  readonly upstreamCode: string | undefined;
  /** The code in our form, where callers may see it (decision G-96). */
  readonly publicCode: string | undefined;
  readonly upstreamParam: string | undefined;
  readonly upstreamMessage: string | undefined;
  readonly providerRequestId: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly isContentRefusal: boolean;
  /** Whether a part of the same work was served, or all of it was made and lost: then none of it is sent again. */
  isPartial = false;

  constructor(
    readonly kind: ProviderErrorKind,
    detail: ProviderErrorDetail,
  ) {
    const code = detail.upstreamCode
      ?.replace(/[^\w.\s-]/g, '')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 64);
    super(
      [`provider ${detail.provider}: ${kind}`, detail.upstreamStatus, code && loggedCodeOf(code)]
        .filter((part) => part !== undefined && part !== '')
        .join(', '),
    );
    this.provider = detail.provider;
    this.sent = detail.sent;
    this.upstreamStatus = detail.upstreamStatus;
    this.upstreamCode = code;
    this.isContentRefusal = detail.isContentRefusal ?? false;
    this.publicCode = this.isContentRefusal
      ? CONTENT_REFUSED
      : publicWordOf(detail.upstreamCode ?? '', detail.provider);
    this.upstreamParam = detail.upstreamParam;
    this.upstreamMessage = detail.upstreamMessage;
    this.providerRequestId = detail.providerRequestId ?? null;
    this.retryAfterSeconds = detail.retryAfterSeconds;
  }

  /** Whether another route can be tried without the risk that the work is paid twice. */
  get safeToFailover(): boolean {
    return !this.isPartial && (!this.sent || NOTHING_DONE.includes(this.kind));
  }

  /**
   * The failure as clients see it. Of the provider's words, only the code of a refusal is shown (decision G-96). A timeout, and
   * a failure after a part of the work was served, tell SDKs not to retry, because the work may have been done (decision G-51).
   * Only speech has a public code for a text that is too long (decision G-35).
   */
  toGatewayError(operation?: string): GatewayError {
    if (this.kind === 'too_long' && operation === 'speech') {
      const message = 'input is longer than the model accepts';
      return new GatewayError('input_too_long', message, { param: 'input', cause: this });
    }
    const [code, sentence] = PUBLIC_FACE[this.kind];
    const message = this.isPartial ? sentence.replace(ADVICE, '') : sentence;
    const retryAfter = this.publicRetryAfter();
    return new GatewayError(code, this.withReason(message), {
      cause: this,
      ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
      ...((this.kind === 'timeout' || this.isPartial) && { shouldRetry: false }),
    });
  }

  private withReason(message: string): string {
    const { kind, publicCode } = this;
    if (kind !== 'rejected' || publicCode === undefined) return message;
    return message.replace(/\.$/, `: ${publicCode}.`);
  }

  private publicRetryAfter(): number | undefined {
    if (this.isPartial) return undefined;
    if (this.kind !== 'rate_limited' && this.kind !== 'unavailable') return undefined;
    const seconds = this.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
    return Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_SECONDS);
  }
}
