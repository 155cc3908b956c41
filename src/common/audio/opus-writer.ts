import { Encoder } from '@evan/opus/wasm/index.mjs';
import {
  EncodedAudioPacketSource,
  EncodedPacket,
  OggOutputFormat,
  Output,
  StreamTarget,
  type StreamTargetChunk,
} from 'mediabunny';
import { type AudioFileFacts, type SoundWriter, toInt16 } from './sound-writer.js';

/** The Opus clock runs at 48 kHz, whatever the rate of the samples. */
const CLOCK_HZ = 48_000;
const FRAMES_PER_SECOND = 50;
/** The delay of the encoder in samples; players drop as many at the start (RFC 7845, pre-skip). */
const PRE_SKIP = 312;
const PAGE_SECONDS = 0.5;
const SET_BITRATE = 4002;
const SET_VBR = 4006;
const SET_COMPLEXITY = 4010;
const COMPLEXITY = 5;
const DECODER = {
  codec: 'opus',
  numberOfChannels: 1,
  sampleRate: CLOCK_HZ,
  description: opusHead(),
} as const;

/** Writes mono Opus in Ogg at a constant bit rate, of samples at 24 or 48 kHz. The comment is a Vorbis comment. */
export async function createOpusWriter(facts: AudioFileFacts): Promise<SoundWriter> {
  const { format, totalSamples, comment } = facts;
  const encoder = opusEncoder(format);
  let written: Uint8Array[] = [];
  const write = ({ data }: StreamTargetChunk) => void written.push(data.slice());
  const output = new Output({
    format: new OggOutputFormat({ maximumPageDuration: PAGE_SECONDS }),
    target: new StreamTarget(new WritableStream({ write })),
  });
  const source = new EncodedAudioPacketSource('opus');
  output.addAudioTrack(source);
  if (comment !== '') output.setMetadataTags({ comment });
  await output.start();

  const frame = format.sampleRate / FRAMES_PER_SECOND;
  const total = totalSamples + Math.round((PRE_SKIP * format.sampleRate) / CLOCK_HZ);
  let waiting = new Int16Array(0);
  let done = 0;
  const encodeFrames = async (samples: Int16Array<ArrayBuffer>): Promise<void> => {
    let at = 0;
    for (; at + frame <= samples.length; at += frame) {
      const bytes = encoder.encode(samples.slice(at, at + frame));
      // What the last frame has too much is cut off by its length.
      const length = Math.min(frame, total - done) / format.sampleRate;
      const packet = new EncodedPacket(bytes, 'key', done / format.sampleRate, length);
      await source.add(packet, { decoderConfig: DECODER });
      done += frame;
    }
    waiting = samples.slice(at);
  };
  const takeOutput = (): Uint8Array => {
    const bytes = Buffer.concat(written);
    written = [];
    return bytes;
  };
  return {
    async encode(samples) {
      await encodeFrames(concatenate(waiting, toInt16(samples)));
      return takeOutput();
    },
    async finish() {
      const missing = Math.ceil((total - done) / frame);
      await encodeFrames(concatenate(waiting, new Int16Array(missing * frame - waiting.length)));
      await output.finalize();
      return takeOutput();
    },
    release: () => {
      encoder.drop();
    },
  };
}

function opusEncoder({ sampleRate, kbps }: AudioFileFacts['format']): Encoder {
  const encoder = new Encoder({ channels: 1, sample_rate: sampleRate, application: 'audio' });
  encoder.ctl(SET_BITRATE, kbps * 1000);
  encoder.ctl(SET_VBR, 0);
  encoder.ctl(SET_COMPLEXITY, COMPLEXITY);
  return encoder;
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
  head.writeUInt32LE(CLOCK_HZ, 12);
  return head;
}
