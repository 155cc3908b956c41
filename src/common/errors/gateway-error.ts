import { ERROR_TABLE, type ErrorCode, type ErrorType, publicCodeOf } from './error-table.js';

/** Amounts of a 402, by their names on the wire (decision G-106). */
export interface ErrorFields {
  readonly needed_microusd?: string;
  readonly available_microusd?: string;
  readonly max_tokens?: number;
  readonly topup_url?: string;
}

/** Optional details of an error. */
export interface GatewayErrorDetail {
  /** The field that is wrong: dotted path (`inputs.3.voice`) or header name. */
  readonly param?: string | null;
  /** Whole seconds until a retry makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** `false` tells stock SDKs not to retry, although the status suggests it (decisions G-09, G-51). */
  readonly shouldRetry?: boolean;
  /** Further fields of `error` in the body. */
  readonly fields?: ErrorFields;
  readonly cause?: unknown;
}

/** The JSON body of every error response (API: Error envelope). */
export interface ErrorEnvelope {
  readonly error: {
    readonly message: string;
    readonly type: ErrorType;
    readonly param: string | null;
    readonly code: string;
  } & ErrorFields;
}

/**
 * The only error class that reaches clients: `new GatewayError('invalid_request', 'voice is unknown', { param: 'voice'
 * })`. The message is public, so it must not contain upstream text, a host, a vendor name, a key or a prompt.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly shouldRetry: boolean | undefined;
  readonly fields: ErrorFields | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    detail: GatewayErrorDetail = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.param = detail.param ?? null;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.shouldRetry = detail.shouldRetry;
    this.fields = detail.fields;
  }

  /** HTTP status of the code. */
  get status(): number {
    return ERROR_TABLE[this.code].status;
  }

  /** The same error under another code of the table. Message, param and cause stay. */
  withCode(code: ErrorCode): GatewayError {
    return this.copy(code, this.param);
  }

  /** The same error, for the named field. */
  withParam(param: string): GatewayError {
    return this.copy(this.code, param);
  }

  /** The same error in other words. */
  withMessage(message: string): GatewayError {
    return this.copy(this.code, this.param, message);
  }

  /** The same error with another time to wait, in whole seconds. */
  withRetryAfter(seconds: number): GatewayError {
    return this.copy(this.code, this.param, this.message, seconds);
  }

  /** The same error, which tells stock SDKs not to retry and names no time to wait. */
  withoutRetry(): GatewayError {
    const { code, message, param, cause, fields } = this;
    const detail = { param, cause, shouldRetry: false, ...(fields && { fields }) };
    return new GatewayError(code, message, detail);
  }

  private copy(
    code: ErrorCode,
    param: string | null,
    message = this.message,
    retryAfterSeconds = this.retryAfterSeconds,
  ): GatewayError {
    return new GatewayError(code, message, {
      param,
      cause: this.cause,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(this.shouldRetry !== undefined && { shouldRetry: this.shouldRetry }),
      ...(this.fields !== undefined && { fields: this.fields }),
    });
  }

  /** The error as clients see it. `type` replaces the table's word (videos, decision G-04). */
  toEnvelope(type: ErrorType = ERROR_TABLE[this.code].type): ErrorEnvelope {
    const { message, param, code, fields } = this;
    return { error: { message, type, param, code: publicCodeOf(code), ...fields } };
  }
}

/** The 400 that names a field by its path; `says` ends the sentence, without a full stop. */
export function invalidField(param: string, says: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', `${param} ${says}.`, { param, cause });
}
