import type { ErrorCode } from '../common/errors/error-table.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { ProviderError } from '../providers/http/provider-error.js';
import { FileTooLargeError } from '../platform/storage/stored-file.js';

/** A file is fetched again for this long, because a provider or a storage may be away for a while. */
const COLLECT_LIMIT_MS = 600_000;
/** Longest wait between two attempts. */
const MAX_COLLECT_DELAY_MS = 60_000;
/** Statuses below 500 with which a provider asks to try again later. */
const LATER_STATUSES = [408, 425, 429];
/** Codes of a download whose URL is refused or whose file is too large. */
const REFUSALS: readonly ErrorCode[] = ['invalid_request', 'audio_too_large'];

/** The provider delivered something else than the file. */
export class UnusableFileError extends Error {}

/** Whether the provider says that there is no file, or delivers something else. Any other failure is worth another attempt. */
export function isWithoutFile(error: unknown): boolean {
  if (error instanceof UnusableFileError || error instanceof FileTooLargeError) return true;
  if (error instanceof GatewayError) return REFUSALS.includes(error.code);
  if (!(error instanceof ProviderError) || error.upstreamStatus === undefined) return false;
  return error.upstreamStatus < 500 && !LATER_STATUSES.includes(error.upstreamStatus);
}

/**
 * The wait before attempt number `tries` + 1: the first wait, doubled each time, at most a minute. Undefined when the
 * attempts have lasted for ten minutes.
 */
export function collectDelayMs(
  tries: number,
  triedForMs: number,
  firstMs: number,
): number | undefined {
  if (triedForMs >= COLLECT_LIMIT_MS) return undefined;
  return Math.min(MAX_COLLECT_DELAY_MS, firstMs * 2 ** tries);
}
