import type { ErrorCode } from '../common/errors/error-table.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { ProviderError } from '../providers/http/provider-error.js';
import { FileTooLargeError } from '../platform/storage/stored-file.js';

/** Downloads are retried for this long, because a provider or storage may be unavailable for a while. */
const COLLECT_LIMIT_MS = 600_000;
/** Longest wait between two attempts. */
const MAX_COLLECT_DELAY_MS = 60_000;
/** Statuses below 500 that ask for a later retry. */
const LATER_STATUSES = [408, 425, 429];
/** Error codes of a download with a refused URL or a file that is too large. */
const REFUSALS: readonly ErrorCode[] = ['invalid_request', 'audio_too_large'];

/** The provider delivered something other than the expected file. */
export class UnusableFileError extends Error {}

/** Whether the provider has no file or delivers something else. Other failures are retried. */
export function isWithoutFile(error: unknown): boolean {
  if (error instanceof UnusableFileError || error instanceof FileTooLargeError) return true;
  if (error instanceof GatewayError) return REFUSALS.includes(error.code);
  if (!(error instanceof ProviderError) || error.upstreamStatus === undefined) return false;
  return error.upstreamStatus < 500 && !LATER_STATUSES.includes(error.upstreamStatus);
}

/**
 * The delay before attempt number `tries` + 1: the first delay, doubled each time, at most one minute. Undefined after ten
 * minutes of attempts.
 */
export function collectDelayMs(
  tries: number,
  triedForMs: number,
  firstMs: number,
): number | undefined {
  if (triedForMs >= COLLECT_LIMIT_MS) return undefined;
  return Math.min(MAX_COLLECT_DELAY_MS, firstMs * 2 ** tries);
}
