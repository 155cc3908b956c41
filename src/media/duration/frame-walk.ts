import { SampleCounter } from './sample-counter.js';
import { unsupportedMedia } from './unsupported-media.error.js';

/** One frame of a raw frame stream (MP3, ADTS), from its header. */
export interface FrameHeader {
  /** Size of the whole frame. */
  readonly bytes: number;
  /** Samples per channel. */
  readonly samples: number;
  readonly rateHz: number;
  /** The same for all frames of one encoding: version, layer or profile, rate. */
  readonly kind: number;
}

/** Reads the frame header at `at`; undefined if there is none. */
export type ReadFrameHeader = (bytes: Buffer, at: number) => FrameHeader | undefined;

const SYNC_BYTE = 0xff;
const DOUBTFUL_LIMIT_MICROS = 500_000n;

/**
 * Counts the frames of a raw stream in `bytes[from, to)`, whatever is between them. A header counts if a frame of the
 * same kind was counted before or follows directly. A single header may be no frame, or a frame that only some decoders
 * play. If those amount to more than half a second, the duration is uncertain: `unsupported_audio_format`.
 */
export function walkFrames(
  bytes: Buffer,
  from: number,
  to: number,
  readHeader: ReadFrameHeader,
): SampleCounter {
  const tally = new SampleCounter();
  const doubtful = new SampleCounter();
  const kinds = new Set<number>();
  let at = from;
  while (at >= 0 && at < to) {
    const frame = readHeader(bytes, at);
    if (frame !== undefined && at + frame.bytes <= to) {
      if (kinds.has(frame.kind) || readHeader(bytes, at + frame.bytes)?.kind === frame.kind) {
        kinds.add(frame.kind);
        tally.add(frame.samples, frame.rateHz);
        at += frame.bytes;
        continue;
      }
      doubtful.add(frame.samples, frame.rateHz);
    }
    at += 1;
    // A search costs more than a look at the next byte, so a run of sync bytes is read byte by byte.
    if (bytes[at] !== SYNC_BYTE) at = bytes.indexOf(SYNC_BYTE, at);
  }
  if (doubtful.micros() > DOUBTFUL_LIMIT_MICROS)
    throw unsupportedMedia('it holds stray audio frames');
  return tally;
}
