import { opusFromHead } from '../codec/opus-packet.js';
import type { PacketCodec } from '../codec/packet-codec.js';
import { vorbisPackets } from '../codec/vorbis-packet.js';
import { durationMicros } from '../sample-counter.js';
import { checkTimeline, trimEnd } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { children, type EbmlElement, readUnsigned } from './ebml-element.js';

const TRACK_NUMBER = 0xd7;
const TRACK_TYPE = 0x83;
const CODEC_ID = 0x86;
const CODEC_PRIVATE = 0x63a2;
const DEFAULT_DURATION = 0x23e383;
const CONTENT_ENCODINGS = 0x6d80;
const VIDEO = 1;
const AUDIO = 2;
const NANOS_PER_MICRO = 1_000;

/** One track of a WebM file. It counts the samples of its audio frames and the time that its blocks span. */
export class WebmTrack {
  number = 0;
  kind: 'audio' | 'video' | 'other' = 'other';
  private codec: PacketCodec | undefined;
  private frameNanos = 0;
  private samples = 0;
  private lastSamples = 0;
  private discardNanos = 0;
  private blocks = 0;
  private firstTick = Infinity;
  private lastTick = -Infinity;

  constructor(bytes: Buffer, entry: EbmlElement) {
    let codecId = '';
    let setup: Buffer = Buffer.alloc(0);
    let isEncoded = false;
    for (const child of children(bytes, entry)) {
      if (child.id === TRACK_NUMBER) this.number = readUnsigned(bytes, child);
      if (child.id === TRACK_TYPE) this.kind = kindOf(readUnsigned(bytes, child));
      if (child.id === CODEC_ID) codecId = bytes.toString('latin1', child.at, child.end);
      if (child.id === CODEC_PRIVATE) setup = bytes.subarray(child.at, child.end);
      if (child.id === DEFAULT_DURATION) this.frameNanos = readUnsigned(bytes, child);
      isEncoded ||= child.id === CONTENT_ENCODINGS;
    }
    if (this.kind !== 'audio') return;
    if (isEncoded) throw unsupportedMedia('it is encrypted or compressed');
    this.codec = readCodec(codecId.split('\0', 1)[0] ?? '', setup);
  }

  /** Adds the frames of one block, laced or not, at a tick of the segment's clock. */
  add(
    bytes: Buffer,
    frames: readonly (readonly [number, number])[],
    tick: number,
    discardNanos: number,
  ): void {
    this.blocks += 1;
    this.firstTick = Math.min(this.firstTick, tick);
    this.lastTick = Math.max(this.lastTick, tick);
    this.discardNanos = discardNanos;
    if (this.codec === undefined) return;
    let samples = 0;
    for (const [at, end] of frames) {
      samples = this.codec.samplesOf(bytes, at, end);
      this.samples += samples;
    }
    this.lastSamples = samples;
  }

  /** The track's duration in microseconds. Frames are compared with the times of blocks; a tick is `tickNanos` long. */
  micros(tickNanos: number): bigint {
    if (this.blocks === 0) return 0n;
    const span = BigInt(
      Math.round(((this.lastTick - this.firstTick) * tickNanos) / NANOS_PER_MICRO),
    );
    if (this.codec === undefined)
      return span + BigInt(Math.round(this.frameNanos / NANOS_PER_MICRO));
    const { rateHz, preSkip } = this.codec;
    const lastFrame = durationMicros(this.lastSamples, rateHz);
    checkTimeline(durationMicros(this.samples, rateHz), span + lastFrame);
    const frames = durationMicros(Math.max(this.samples - preSkip, 0), rateHz);
    return trimEnd(frames, BigInt(Math.trunc(this.discardNanos / NANOS_PER_MICRO)), lastFrame);
  }
}

function kindOf(type: number): 'audio' | 'video' | 'other' {
  if (type === AUDIO) return 'audio';
  return type === VIDEO ? 'video' : 'other';
}

function readCodec(codecId: string, setup: Buffer): PacketCodec {
  if (codecId === 'A_OPUS') return opusFromHead(setup);
  if (codecId !== 'A_VORBIS') throw unsupportedMedia('its audio codec is not supported');
  // Three headers in Xiph lacing: the number of headers minus one, the sizes of the first two, then the headers.
  let at = 1;
  const readSize = (): number => {
    let size = 0;
    let part = 255;
    for (; part === 255; at += 1) {
      part = setup.readUInt8(at);
      size += part;
    }
    return size;
  };
  const identificationBytes = readSize();
  const commentBytes = readSize();
  const identificationEnd = at + identificationBytes;
  return vorbisPackets(
    setup.subarray(at, identificationEnd),
    setup.subarray(identificationEnd + commentBytes),
  );
}
