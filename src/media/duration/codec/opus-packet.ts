import { unsupportedMedia } from '../unsupported-media.error.js';
import type { PacketCodec } from './packet-codec.js';

const OPUS_RATE_HZ = 48_000;
const HEAD_BYTES = 19;
/** Samples per frame at 48 kHz, by the two low bits of the configuration: SILK, hybrid, CELT. */
const SILK_SAMPLES = [480, 960, 1920, 2880];
const HYBRID_SAMPLES = [480, 960];
const CELT_SAMPLES = [120, 240, 480, 960];

/**
 * Counts Opus from the table-of-contents byte of each packet (RFC 6716 §3.1). Header packets of an Ogg stream count
 * nothing.
 */
export function opusPackets(preSkip: number): PacketCodec {
  return { rateHz: OPUS_RATE_HZ, preSkip, samplesOf: opusSamples };
}

/** Reads `OpusHead` (RFC 7845 §5.1). Throws `unsupported_audio_format`. */
export function opusFromHead(head: Buffer): PacketCodec {
  if (head.length < HEAD_BYTES || head.toString('latin1', 0, 8) !== 'OpusHead') {
    throw unsupportedMedia('the Opus header is broken');
  }
  return opusPackets(head.readUInt16LE(10));
}

function opusSamples(bytes: Buffer, at: number, end: number): number {
  const contents = bytes[at];
  if (contents === undefined || at >= end || isHeader(bytes, at, end)) return 0;
  const config = contents >> 3;
  const frameSamples =
    (config < 12
      ? SILK_SAMPLES[config & 3]
      : config < 16
        ? HYBRID_SAMPLES[config & 1]
        : CELT_SAMPLES[config & 3]) ?? 0;
  const code = contents & 3;
  if (code < 3) return frameSamples * (code === 0 ? 1 : 2);
  return at + 1 < end ? frameSamples * ((bytes[at + 1] ?? 0) & 63) : 0;
}

function isHeader(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[at] !== 0x4f || end - at < 8) return false;
  const magic = bytes.toString('latin1', at, at + 8);
  return magic === 'OpusHead' || magic === 'OpusTags';
}
