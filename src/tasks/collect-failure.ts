import type { ErrorCode } from '../common/errors/error-table.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { ProviderError } from '../providers/http/provider-error.js';

/** A file is fetched again for so long, for a provider or a storage that is away for a while. */
const COLLECT_LIMIT_MS = 600_000;
/** Longest wait between two tries. */
const MAX_COLLECT_DELAY_MS = 60_000;
/** The waits double so often at most, which keeps them numbers. */
const MAX_DOUBLINGS = 16;
/** Answers below 500 with which a provider asks for patience. */
const LATER_STATUSES = [408, 425, 429];
/** What a download says of a URL that is refused and of a file that is too large. */
const REFUSALS: readonly ErrorCode[] = ['invalid_request', 'audio_too_large'];

/** What the provider delivered is not the file. */
export class UnusableFileError extends Error {}

/** Whether the provider says that there is no file, or gives what is none; everything else may pass. */
export function isWithoutFile(error: unknown): boolean {
  if (error instanceof UnusableFileError) return true;
  if (error instanceof GatewayError) return REFUSALS.includes(error.code);
  if (!(error instanceof ProviderError) || error.upstreamStatus === undefined) return false;
  return error.upstreamStatus < 500 && !LATER_STATUSES.includes(error.upstreamStatus);
}

/** The wait before try number `tries` + 1: the first one, doubled each time; undefined once it was tried long enough. */
export function collectDelayMs(
  tries: number,
  triedForMs: number,
  firstMs: number,
): number | undefined {
  if (triedForMs >= COLLECT_LIMIT_MS) return undefined;
  return Math.min(MAX_COLLECT_DELAY_MS, firstMs * 2 ** Math.min(tries, MAX_DOUBLINGS));
}
