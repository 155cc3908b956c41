import { FlacFrames } from '../codec/flac-frame.js';
import type { PacketCodec } from '../codec/packet-codec.js';
import { durationMicros } from '../sample-counter.js';
import { checkTimeline, trimEnd } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { boxes, child, type Mp4Box, requiredChild } from './mp4-box.js';
import { type AudioCoding, readAudioCoding } from './mp4-sample-entry.js';

const FULL_BOX_BYTES = 4;
const SELF_CONTAINED = 1;
const MICROS_PER_SECOND = 1_000_000n;

/**
 * One track of an MP4 or QuickTime file. It counts the samples of its packets, and the ticks that its tables declare.
 */
export class Mp4Track {
  readonly id: number;
  readonly kind: 'audio' | 'video' | 'other';
  readonly sampleTable: Mp4Box;
  readonly coding: AudioCoding | undefined;
  private readonly timescale: number;
  private packets = 0;
  private ticks = 0;
  private samples = 0;
  private lastSamples = 0;

  constructor(
    private readonly bytes: Buffer,
    trak: Mp4Box,
  ) {
    const header = requiredChild(bytes, trak, 'tkhd');
    this.id = bytes.readUInt32BE(header.at + (bytes.readUInt8(header.at) === 1 ? 20 : 12));
    const media = requiredChild(bytes, trak, 'mdia');
    const handler = requiredChild(bytes, media, 'hdlr');
    this.kind = kindOf(bytes.toString('latin1', handler.at + 8, handler.at + 12));
    const clock = requiredChild(bytes, media, 'mdhd');
    this.timescale = bytes.readUInt32BE(clock.at + (bytes.readUInt8(clock.at) === 1 ? 20 : 12));
    const information = requiredChild(bytes, media, 'minf');
    this.sampleTable = requiredChild(bytes, information, 'stbl');
    if (this.kind !== 'audio') return;
    rejectExternalData(bytes, information);
    this.coding = readAudioCoding(bytes, requiredChild(bytes, this.sampleTable, 'stsd'));
  }

  /** Adds the packet at `[at, end)`. Throws `unsupported_audio_format` when it is outside the file. */
  addPacket(at: number, end: number): void {
    if (end > this.bytes.length) throw unsupportedMedia('it is cut off');
    this.packets += 1;
    if (this.packets > this.bytes.length)
      throw unsupportedMedia('it lists more packets than it holds');
    if (this.coding === undefined) return;
    this.lastSamples = this.coding.codec.samplesOf(this.bytes, at, end);
    this.samples += this.lastSamples;
  }

  /** Adds to the time that the tables declare. */
  addTicks(ticks: number): void {
    this.ticks += ticks;
  }

  /**
   * Duration in microseconds. For audio it is counted from frames and compared with the tables; for video and for audio
   * without a coding it is the time in the tables.
   */
  micros(): bigint {
    if (this.packets === 0 && this.ticks === 0) return 0n;
    if (this.timescale === 0) throw unsupportedMedia('its clock is broken');
    const timeline = (BigInt(this.ticks) * MICROS_PER_SECOND) / BigInt(this.timescale);
    if (this.coding === undefined) return timeline;
    const { codec } = this.coding;
    rejectDoubtful(codec);
    const frames = durationMicros(this.samples, codec.rateHz);
    checkTimeline(frames, timeline);
    const played = durationMicros(Math.max(this.samples - codec.preSkip, 0), codec.rateHz);
    return trimEnd(played, frames - timeline, durationMicros(this.lastSamples, codec.rateHz));
  }
}

function kindOf(handler: string): 'audio' | 'video' | 'other' {
  if (handler === 'soun') return 'audio';
  return handler === 'vide' ? 'video' : 'other';
}

function rejectExternalData(bytes: Buffer, information: Mp4Box): void {
  const data = child(bytes, information, 'dinf');
  const references = data && child(bytes, data, 'dref');
  if (references === undefined) return;
  for (const entry of boxes(bytes, references.at + FULL_BOX_BYTES + 4, references.end)) {
    if ((bytes.readUInt32BE(entry.at) & SELF_CONTAINED) === 0) {
      throw unsupportedMedia('its data lies in another file');
    }
  }
}

function rejectDoubtful(codec: PacketCodec): void {
  if (codec instanceof FlacFrames && codec.isDoubtful) {
    throw unsupportedMedia('it holds stray audio frames');
  }
}
