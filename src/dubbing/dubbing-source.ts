import { basename, extname } from 'node:path/posix';
import type { MediaLimits } from '../catalog/model-row.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { billableSeconds } from '../common/time/billable-seconds.js';
import type { MeasuredMedia } from '../media/media-intake.js';
import type { MediaFile } from '../providers/ports/audio.port.js';

/** Field of the body that names the source. */
export const SOURCE_FIELD = 'source_url';
const MAX_NAME_CHARACTERS = 120;
const CONTROLS = /\p{Cc}/gu;

/** A source: what is paid for and what is sent. */
export interface BilledSource {
  readonly media: MediaFile;
  readonly billedSeconds: bigint;
}

/**
 * The price of a dub. The whole file is dubbed, so its longest track counts, video included (decision G-44). Throws
 * `unsupported_audio_format` for AIFF, which only the other endpoints accept (G-45), and `media_too_long` (G-19).
 */
export function billedSource(
  { media, length }: MeasuredMedia,
  sourceUrl: string,
  { maxSeconds }: MediaLimits,
): BilledSource {
  const { format, durationMicros, videoDurationMicros: videoLengthMicros = 0n } = length;
  if (format === 'aiff') {
    const message = 'AIFF is not supported for dubbing.';
    throw new GatewayError('unsupported_audio_format', message, { param: SOURCE_FIELD });
  }
  const longest = videoLengthMicros > durationMicros ? videoLengthMicros : durationMicros;
  const billedSeconds = secondsOfSource(longest, maxSeconds);
  return { media: { ...media, filename: `${nameIn(sourceUrl)}.${format}` }, billedSeconds };
}

/** The seconds that are billed for a source of this length. Throws `media_too_long` (decision G-19). */
export function secondsOfSource(durationMicros: bigint, maxSeconds: number): bigint {
  const billedSeconds = billableSeconds(durationMicros);
  if (billedSeconds > BigInt(maxSeconds)) {
    const message = `The source is longer than ${maxSeconds} seconds.`;
    throw new GatewayError('media_too_long', message, { param: SOURCE_FIELD });
  }
  return billedSeconds;
}

/**
 * The caller's name of the file, without its ending, which may be wrong, and without control characters, which no header
 * may hold. Providers show the name to operators.
 */
function nameIn(url: string): string {
  const { pathname } = new URL(url);
  const name = basename(decoded(pathname), extname(pathname)).replace(CONTROLS, '');
  return name.slice(0, MAX_NAME_CHARACTERS) || 'source';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
