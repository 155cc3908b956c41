/** What went wrong at a provider, in our own words. */
export type ProviderErrorKind =
  /** The request's content was refused. */
  | 'rejected'
  /** The text is longer than the provider accepts. */
  | 'too_long'
  | 'rate_limited'
  /** No response in time. The work may have been done. */
  | 'timeout'
  /** A failure, or a response that cannot be used. The work may have been done. */
  | 'http_error'
  /** No connection, overloaded, or the circuit breaker is open. */
  | 'unavailable'
  /** The provider does not know the path, model or voice that we sent. */
  | 'misconfigured'
  /** Our key, plan or balance at the provider is the cause. */
  | 'account';
