import { FlacFrames } from '../codec/flac-frame.js';
import { opusFromHead } from '../codec/opus-packet.js';
import { fixedPackets, type PacketCodec } from '../codec/packet-codec.js';
import { isVorbisHeader, vorbisPackets } from '../codec/vorbis-packet.js';
import { durationMicros } from '../sample-counter.js';
import { checkTimeline, trimEnd } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import type { OggPage } from './ogg-page.js';

const VORBIS_HEADERS = 3;
const FLAC_STREAMINFO_AT = 17;
const FLAC_SYNC = 0xff;
const MICROS_PER_SECOND = 1_000_000;
/** Streams without sound: skeleton, subtitles, captions. */
const SILENT_MAGIC = /^(?:fishead\0|\x80kate|CMML)/;
const MAGIC_BYTES = 8;

/** The kind of stream that begins with this packet; undefined when it begins no known kind. */
export function oggStreamKind(head: Buffer): 'audio' | 'video' | 'silent' | undefined {
  const magic = head.toString('latin1', 0, MAGIC_BYTES);
  if (magic === 'OpusHead' || magic.startsWith('\x7fFLAC') || magic.startsWith('\x01vorbis')) {
    return 'audio';
  }
  if (magic.startsWith('\x80theora')) return 'video';
  return SILENT_MAGIC.test(magic) ? 'silent' : undefined;
}

/**
 * One logical stream of an Ogg file. It counts the samples of its packets and compares them with its granule positions.
 */
export class OggStream {
  hasData = false;
  private codec: PacketCodec | undefined;
  private readonly headers: Buffer[] = [];
  private partial: Buffer[] = [];
  private samples = 0;
  private lastSamples = 0;
  private startGranule: bigint | undefined;
  private lastGranule = 0n;

  constructor(readonly kind: 'audio' | 'video' | 'silent') {}

  /** Adds the stream's next page. */
  add(bytes: Buffer, page: OggPage): void {
    this.hasData ||= !page.isFirst;
    if (this.kind === 'silent') return;
    if (!page.isContinued) this.partial = [];
    page.parts.forEach(([begin, end], index) => {
      const isOrphan = index === 0 && page.isContinued && this.partial.length === 0;
      const isWhole = index < page.parts.length - 1 || page.isLastPartWhole;
      if (isOrphan) return;
      if (!isWhole || this.partial.length > 0) {
        this.partial.push(bytes.subarray(begin, end));
        if (!isWhole) return;
        const packet = Buffer.concat(this.partial);
        this.partial = [];
        this.packet(packet, 0, packet.length);
      } else {
        this.packet(bytes, begin, end);
      }
    });
    if (page.granule !== undefined && this.samples > 0) {
      this.startGranule ??= page.isLast ? 0n : page.granule - BigInt(this.samples);
      this.lastGranule = page.granule;
    }
  }

  /** The stream's duration in microseconds. With `skipStart`, without the samples that a decoder drops at the start. */
  micros(skipStart: boolean): bigint {
    if (this.codec === undefined || this.samples === 0) return 0n;
    if (this.kind === 'video') {
      return (BigInt(this.samples) * BigInt(MICROS_PER_SECOND)) / BigInt(this.codec.rateHz);
    }
    if (this.codec instanceof FlacFrames && this.codec.isDoubtful) {
      throw unsupportedMedia('it holds stray audio frames');
    }
    if (this.startGranule === undefined) throw unsupportedMedia('its pages have no positions');
    const { rateHz } = this.codec;
    const preSkip = skipStart ? this.codec.preSkip : 0;
    const frames = durationMicros(Math.max(this.samples - preSkip, 0), rateHz);
    const ticks = this.lastGranule - this.startGranule - BigInt(preSkip);
    const timeline = ticks > 0n ? durationMicros(Number(ticks), rateHz) : 0n;
    checkTimeline(frames, timeline);
    return trimEnd(frames, frames - timeline, durationMicros(this.lastSamples, rateHz));
  }

  private packet(bytes: Buffer, at: number, end: number): void {
    this.codec ??= this.readHeader(bytes.subarray(at, end));
    if (this.codec === undefined) return;
    if (this.codec instanceof FlacFrames && bytes[at] !== FLAC_SYNC) return;
    const samples = this.codec.samplesOf(bytes, at, end);
    if (samples === 0) return;
    this.samples += samples;
    this.lastSamples = samples;
  }

  /** The codec, after the headers that it needs have been read. */
  private readHeader(packet: Buffer): PacketCodec | undefined {
    this.headers.push(packet);
    const head = this.headers[0] ?? packet;
    if (isVorbisHeader(head, 1)) {
      return this.headers.length < VORBIS_HEADERS ? undefined : vorbisPackets(head, packet);
    }
    if (head[0] === 0x7f) return new FlacFrames(head.subarray(FLAC_STREAMINFO_AT));
    return head[0] === 0x80 ? theoraFrames(head) : opusFromHead(head);
  }
}

/** Theora: every packet is one frame of 1 / rate seconds. It is counted in whole microseconds. */
function theoraFrames(head: Buffer): PacketCodec {
  const numerator = head.readUInt32BE(22);
  const denominator = head.readUInt32BE(26);
  const frameMicros = Math.round((denominator * MICROS_PER_SECOND) / numerator);
  if (!Number.isSafeInteger(frameMicros)) throw unsupportedMedia('its frame rate is wrong');
  const frames = fixedPackets(MICROS_PER_SECOND, frameMicros);
  return {
    ...frames,
    samplesOf: (bytes, at, end) => ((bytes[at] ?? 0) & 0x80 ? 0 : frames.samplesOf(bytes, at, end)),
  };
}
