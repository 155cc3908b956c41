/** What went wrong at a provider, in our own words. */
export type ProviderErrorKind =
  /** The request's content was refused. */
  | 'rejected'
  /** The text is longer than the provider takes. */
  | 'too_long'
  | 'rate_limited'
  /** No answer in time; the work may have been done. */
  | 'timeout'
  /** A failure, or an answer that cannot be used; the work may have been done. */
  | 'http_error'
  /** No connection, overloaded, or taken out of use by the circuit breaker. */
  | 'unavailable'
  /** The provider does not know the path, model or voice we ask for. */
  | 'misconfigured'
  /** Our key, plan or balance at the provider is at fault. */
  | 'account';

/** Facts about a failed provider call; none of them holds provider text, a key or a host. */
export interface ProviderErrorDetail {
  readonly provider: string;
  /** Whether the provider may have received the request. */
  readonly sent: boolean;
  readonly upstreamStatus?: number | undefined;
  /** The provider's or the transport's error code, cut to letters, digits, `_`, `.` and `-`. */
  readonly upstreamCode?: string | undefined;
  readonly providerRequestId?: string | null | undefined;
  /** Whole seconds, when the provider named them. */
  readonly retryAfterSeconds?: number | undefined;
}

/** With these the provider has done nothing, so another route may be asked without paying twice. */
const NOTHING_DONE: readonly ProviderErrorKind[] = [
  'rate_limited',
  'unavailable',
  'misconfigured',
  'account',
];

/**
 * A failed provider call. The message is for logs and safe there: provider id, kind, status and code only. There is no `cause`, because transport
 * errors hold hosts and request headers.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly provider: string;
  readonly sent: boolean;
  readonly upstreamStatus: number | undefined;
  readonly upstreamCode: string | undefined;
  readonly providerRequestId: string | null;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly kind: ProviderErrorKind,
    detail: ProviderErrorDetail,
  ) {
    const code = detail.upstreamCode?.replace(/[^\w.-]/g, '').slice(0, 64);
    super(
      [`provider ${detail.provider}: ${kind}`, detail.upstreamStatus, code]
        .filter((part) => part !== undefined && part !== '')
        .join(', '),
    );
    this.provider = detail.provider;
    this.sent = detail.sent;
    this.upstreamStatus = detail.upstreamStatus;
    this.upstreamCode = code;
    this.providerRequestId = detail.providerRequestId ?? null;
    this.retryAfterSeconds = detail.retryAfterSeconds;
  }

  /** Whether asking another route cannot make anybody pay twice. */
  get safeToFailover(): boolean {
    return !this.sent || NOTHING_DONE.includes(this.kind);
  }
}
