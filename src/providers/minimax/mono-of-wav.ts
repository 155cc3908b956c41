import { afterChunk, readChunk } from '../../media/duration/container/riff-chunk.js';

const RIFF_HEADER_BYTES = 12;
/** More than a writer puts before the samples. */
const MAX_HEAD_BYTES = 64 * 1024;
const FMT_BYTES = 16;
const PCM = 1;
const PCM_BITS = 16;
/** Sizes of a head that was written before the end was known. */
const UNKNOWN_SIZES: readonly number[] = [0, 0xffffffff];

/** Where the samples of a WAV are. */
interface WavSamples {
  readonly at: number;
  readonly channels: number;
  /** Bytes that were not read yet; infinite where the samples go to the end. */
  leftBytes: number;
}

/**
 * The samples of a WAV of 16 bits with this rate, two channels as their mean, in pieces; undefined for anything else. It is
 * read as it arrives, a piece at a time, so that a long one never occupies the process.
 */
export async function monoOfWav(
  wav: AsyncIterable<Buffer>,
  rateHz: number,
): Promise<Buffer[] | undefined> {
  const mono: Buffer[] = [];
  let samples: WavSamples | undefined;
  let unread = Buffer.alloc(0);
  for await (const piece of wav) {
    unread = Buffer.concat([unread, piece]);
    if (samples === undefined) {
      const found = samplesIn(unread, rateHz);
      if (found === 'none') return undefined;
      if (found === 'later') continue;
      samples = found;
      unread = unread.subarray(samples.at);
    }
    const frameBytes = 2 * samples.channels;
    const readable = Math.min(unread.length, samples.leftBytes);
    const whole = readable - (readable % frameBytes);
    if (whole > 0) mono.push(meanOf(unread.subarray(0, whole), samples.channels));
    samples.leftBytes -= whole;
    // Behind the samples other chunks may follow, which are not kept.
    unread = samples.leftBytes < frameBytes ? Buffer.alloc(0) : unread.subarray(whole);
  }
  return mono.length > 0 ? mono : undefined;
}

/** Where the samples begin in the first bytes of a file; `later` if more bytes are needed. */
function samplesIn(head: Buffer, rateHz: number): WavSamples | 'later' | 'none' {
  if (head.length < RIFF_HEADER_BYTES) return 'later';
  const isWav = /^RIFF.{4}WAVE/s.test(head.toString('latin1', 0, RIFF_HEADER_BYTES));
  if (!isWav) return 'none';
  let channels: number | undefined;
  for (let chunk = readChunk(head, RIFF_HEADER_BYTES, 'LE'); chunk !== undefined;) {
    const { id, at, size } = chunk;
    if (id === 'data') {
      if (channels === undefined) return 'none';
      return { at, channels, leftBytes: UNKNOWN_SIZES.includes(size) ? Infinity : size };
    }
    if (id === 'fmt ' && at + FMT_BYTES <= head.length) {
      channels = channelsOf(head.subarray(at), rateHz);
      if (channels === undefined) return 'none';
    }
    chunk = readChunk(head, afterChunk(chunk), 'LE');
  }
  return head.length > MAX_HEAD_BYTES ? 'none' : 'later';
}

/** Undefined for samples of another form. */
function channelsOf(format: Buffer, rateHz: number): number | undefined {
  const isPcm = format.readUInt16LE(0) === PCM && format.readUInt16LE(14) === PCM_BITS;
  const channels = format.readUInt16LE(2);
  const isKnown = isPcm && format.readUInt32LE(4) === rateHz && (channels === 1 || channels === 2);
  return isKnown ? channels : undefined;
}

function meanOf(frames: Buffer, channels: number): Buffer {
  if (channels === 1) return frames;
  // A copy, because the samples may begin at an odd byte.
  const both = new Int16Array(new Uint8Array(frames).buffer);
  const mono = new Int16Array(both.length / 2);
  for (let at = 0; at < mono.length; at += 1)
    mono[at] = ((both[2 * at] ?? 0) + (both[2 * at + 1] ?? 0)) >> 1;
  return Buffer.from(mono.buffer);
}
