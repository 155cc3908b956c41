import { Encoder } from '@evan/opus/wasm/index.mjs';
import type { AudioFileFacts, SoundWriter } from './audio-writer.js';
import { OggPages } from './ogg-pages.js';
import { toInt16 } from '../sound/sound.js';

/** Opus frames last 20 ms. The Opus clock runs at 48 kHz. */
const FRAME_SAMPLES = 960;
/** The delay of the encoder in samples; players drop as many at the start (RFC 7845, pre-skip). */
const PRE_SKIP = 312;
/** 20 ms frames per Ogg page. */
const PACKETS_PER_PAGE = 25;
const SERIAL = 0x53484d;
const SET_BITRATE = 4002;
const SET_VBR = 4006;
const SET_COMPLEXITY = 4010;
const COMPLEXITY = 5;

/** Writes mono Opus in Ogg at a constant bit rate. The comment is a Vorbis comment in the OpusTags packet. */
export class OpusWriter implements SoundWriter {
  private readonly encoder: Encoder;
  private readonly pages = new OggPages(SERIAL);
  private readonly totalSamples: number;
  private output: Uint8Array[];
  private waiting = new Int16Array(0);
  private packets: Uint8Array[] = [];
  private frames = 0;

  constructor({ format, totalSamples, comment }: AudioFileFacts) {
    this.totalSamples = totalSamples;
    this.encoder = new Encoder({
      channels: 1,
      sample_rate: format.sampleRate,
      application: 'audio',
    });
    this.encoder.ctl(SET_BITRATE, format.kbps * 1000);
    this.encoder.ctl(SET_VBR, 0);
    this.encoder.ctl(SET_COMPLEXITY, COMPLEXITY);
    this.output = [this.pages.page([opusHead()], 0n), this.pages.page([opusTags(comment)], 0n)];
  }

  encode(samples: Float32Array): Uint8Array {
    this.encodeFrames(concatenate(this.waiting, toInt16(samples)));
    return this.takeOutput();
  }

  finish(): Uint8Array {
    const missing = Math.ceil((this.totalSamples + PRE_SKIP) / FRAME_SAMPLES) - this.frames;
    const tail = new Int16Array(missing * FRAME_SAMPLES);
    tail.set(this.waiting);
    this.encodeFrames(tail);
    this.writePage(true);
    return this.takeOutput();
  }

  release(): void {
    this.encoder.drop();
  }

  private encodeFrames(samples: Int16Array<ArrayBuffer>): void {
    let at = 0;
    for (; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
      // A full page waits for the next frame, so that the last page can be marked as the end.
      if (this.packets.length === PACKETS_PER_PAGE) this.writePage(false);
      this.packets.push(this.encoder.encode(samples.slice(at, at + FRAME_SAMPLES)));
      this.frames++;
    }
    this.waiting = samples.slice(at);
  }

  private writePage(isLast: boolean): void {
    const granule = isLast ? this.totalSamples + PRE_SKIP : this.frames * FRAME_SAMPLES;
    this.output.push(this.pages.page(this.packets, BigInt(granule), isLast));
    this.packets = [];
  }

  private takeOutput(): Uint8Array {
    const bytes = Buffer.concat(this.output);
    this.output = [];
    return bytes;
  }
}

function concatenate(head: Int16Array, tail: Int16Array): Int16Array<ArrayBuffer> {
  const whole = new Int16Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function opusHead(): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(1, 9);
  head.writeUInt16LE(PRE_SKIP, 10);
  head.writeUInt32LE(48_000, 12);
  return head;
}

function opusTags(comment: string): Buffer {
  const entries = comment === '' ? [] : [withLength(`COMMENT=${comment}`)];
  const count = Buffer.alloc(4);
  count.writeUInt32LE(entries.length);
  return Buffer.concat([
    Buffer.from('OpusTags', 'latin1'),
    withLength('shim sandbox'),
    count,
    ...entries,
  ]);
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}
