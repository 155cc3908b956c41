import { aacPackets } from '../codec/aac-config.js';
import { FlacFrames } from '../codec/flac-frame.js';
import { mp3Packets } from '../codec/mp3-packet.js';
import { opusPackets } from '../codec/opus-packet.js';
import { fixedPackets, type PacketCodec, pcmPackets } from '../codec/packet-codec.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { boxes, child, type Mp4Box, requiredChild } from './mp4-box.js';
import { readDecoderConfig } from './mp4-descriptor.js';

/** Bytes before the child boxes of a sample entry, by its version (version 2 is QuickTime's). */
const ENTRY_BYTES = [28, 44, 64];
const FULL_BOX_BYTES = 4;
const ALAC_SAMPLES_MAX = 16_384;
const CHANNELS_MAX = 64;
const AAC_OBJECTS = new Set([0x40, 0x66, 0x67, 0x68]);
const MP3_OBJECTS = new Set([0x69, 0x6b]);
/** Bytes per sample of QuickTime's plain codings; 0: as the declared bits say. */
const PCM_BYTES = new Map([
  ['sowt', 0],
  ['twos', 0],
  ['raw ', 0],
  ['NONE', 0],
  ['lpcm', 0],
  ['in24', 3],
  ['in32', 4],
  ['fl32', 4],
  ['fl64', 8],
  ['alaw', 1],
  ['ulaw', 1],
]);

/** Newer iPhones add a track of it to that in AAC. Only Apple's decoders play it. */
const SPATIAL = 'apac';

/** How the samples of an audio track are counted. */
export interface AudioCoding {
  readonly codec: PacketCodec;
  /** Only for plain samples: the bytes of one sample of every channel. */
  readonly frameBytes?: number;
}

interface Fields {
  readonly rateHz: number;
  readonly channels: number;
  readonly bits: number;
  /** The entry, reduced to its child boxes. */
  readonly inner: Mp4Box;
}

/**
 * Reads the only sample entry in the `stsd` of an audio track. Undefined for Apple's spatial sound. Throws
 * `unsupported_audio_format` for unknown or encrypted codings.
 */
export function readAudioCoding(bytes: Buffer, stsd: Mp4Box): AudioCoding | undefined {
  const [entry, second] = boxes(bytes, stsd.at + FULL_BOX_BYTES + 4, stsd.end);
  if (entry === undefined || second !== undefined)
    throw unsupportedMedia('its coding changes midway');
  if (entry.type === SPATIAL) return undefined;
  const fields = readFields(bytes, entry);
  const pcmBytes = PCM_BYTES.get(entry.type);
  if (pcmBytes !== undefined) {
    return plain(
      fields.rateHz,
      fields.channels,
      pcmBytes === 0 ? Math.ceil(fields.bits / 8) : pcmBytes,
    );
  }
  return packetCoding(bytes, entry.type, fields);
}

function packetCoding(bytes: Buffer, type: string, fields: Fields): AudioCoding {
  switch (type) {
    case 'mp4a':
      return { codec: mpeg4Codec(bytes, fields) };
    case '.mp3':
      return { codec: mp3Packets(fields.rateHz) };
    case 'Opus': {
      const { at } = requiredChild(bytes, fields.inner, 'dOps');
      return { codec: opusPackets(bytes.readUInt16BE(at + 2)) };
    }
    case 'fLaC': {
      const { at, end } = requiredChild(bytes, fields.inner, 'dfLa');
      return { codec: new FlacFrames(bytes.subarray(at + FULL_BOX_BYTES + 4, end)) };
    }
    case 'alac':
      return { codec: alacCodec(bytes, fields.inner) };
    case 'ipcm':
    case 'fpcm': {
      const { at } = requiredChild(bytes, fields.inner, 'pcmC');
      return plain(fields.rateHz, fields.channels, bytes.readUInt8(at + FULL_BOX_BYTES + 1) / 8);
    }
    default:
      throw unsupportedMedia('its audio codec is not supported');
  }
}

function readFields(bytes: Buffer, entry: Mp4Box): Fields {
  const version = bytes.readUInt16BE(entry.at + 8);
  const inner = { ...entry, at: entry.at + (ENTRY_BYTES[version] ?? 0) };
  if (version === 2) {
    return {
      rateHz: bytes.readDoubleBE(entry.at + 32),
      channels: bytes.readUInt32BE(entry.at + 40),
      bits: bytes.readUInt32BE(entry.at + 48),
      inner,
    };
  }
  return {
    rateHz: bytes.readUInt16BE(entry.at + 24),
    channels: bytes.readUInt16BE(entry.at + 16),
    bits: bytes.readUInt16BE(entry.at + 18),
    inner,
  };
}

function plain(rateHz: number, channels: number, sampleBytes: number): AudioCoding {
  const frameBytes = channels * sampleBytes;
  const isSane = channels <= CHANNELS_MAX && sampleBytes <= 8 && Number.isInteger(frameBytes);
  if (!isSane || frameBytes === 0) throw unsupportedMedia('its sample format is wrong');
  return { codec: pcmPackets(rateHz, frameBytes), frameBytes };
}

function mpeg4Codec(bytes: Buffer, { inner, rateHz }: Fields): PacketCodec {
  const wave = child(bytes, inner, 'wave');
  const esds = requiredChild(bytes, wave ?? inner, 'esds');
  const { objectType, config } = readDecoderConfig(
    bytes.subarray(esds.at + FULL_BOX_BYTES, esds.end),
  );
  if (MP3_OBJECTS.has(objectType)) return mp3Packets(rateHz);
  if (AAC_OBJECTS.has(objectType)) return aacPackets(config);
  throw unsupportedMedia('its audio codec is not supported');
}

function alacCodec(bytes: Buffer, inner: Mp4Box): PacketCodec {
  const wave = child(bytes, inner, 'wave');
  const { at } = requiredChild(bytes, wave ?? inner, 'alac');
  const samples = bytes.readUInt32BE(at + FULL_BOX_BYTES);
  if (samples === 0 || samples > ALAC_SAMPLES_MAX)
    throw unsupportedMedia('its codec setup is broken');
  return fixedPackets(bytes.readUInt32BE(at + FULL_BOX_BYTES + 20), samples);
}
