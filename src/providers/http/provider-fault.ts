import { redactText } from '../../common/secrets/redact-text.js';
import { ProviderError } from './provider-error.js';

const MAX_MESSAGE_CHARACTERS = 500;
/** What is searched for secrets: a provider may quote a whole request. */
const MAX_READ_CHARACTERS = 2_000;
const BEARER = /\bBearer\s+\S+/gi;
const EMAIL = /[\w.+-]{1,64}@[\w-]+(\.[\w-]+)+/g;
const ACCOUNT = /\b(org|proj|acct)[-_]\w{6,}/g;

/** A provider's failure, as the operator's record keeps it (decision G-96). */
export interface ProviderFault {
  readonly status: number | null;
  readonly code: string | null;
  /** The provider's own message without keys, addresses and accounts, at most 500 characters. */
  readonly message: string | null;
}

/** The provider's error in the error of a call: that error itself, or its cause. */
export function providerErrorBehind(thrown: unknown): ProviderError | undefined {
  const error =
    thrown instanceof Error && thrown.cause instanceof ProviderError ? thrown.cause : thrown;
  return error instanceof ProviderError ? error : undefined;
}

/** What the record keeps of it. */
export function faultOf(error: ProviderError): ProviderFault {
  const { upstreamStatus = null, upstreamCode = null, upstreamMessage } = error;
  const message = upstreamMessage === undefined ? null : redacted(upstreamMessage);
  return { status: upstreamStatus, code: upstreamCode, message };
}

function redacted(text: string): string {
  return redactText(text.slice(0, MAX_READ_CHARACTERS))
    .replace(BEARER, 'Bearer [redacted]')
    .replace(EMAIL, '[redacted]')
    .replace(ACCOUNT, '[redacted]')
    .slice(0, MAX_MESSAGE_CHARACTERS);
}
