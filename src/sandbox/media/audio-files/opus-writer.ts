import { Encoder } from '@evan/opus/wasm/index.mjs';
import {
  EncodedAudioPacketSource,
  EncodedPacket,
  OggOutputFormat,
  Output,
  StreamTarget,
  type StreamTargetChunk,
} from 'mediabunny';
import type { AudioFileFacts, SoundWriter } from './audio-format.js';
import { toInt16 } from '../sound/sound.js';

/** Opus frames last 20 ms. The Opus clock runs at 48 kHz. */
const FRAME_SAMPLES = 960;
const CLOCK_HZ = 48_000;
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

/** Writes mono Opus in Ogg at a constant bit rate. The comment is a Vorbis comment. */
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

  const total = totalSamples + PRE_SKIP;
  let waiting = new Int16Array(0);
  let done = 0;
  const encodeFrames = async (samples: Int16Array<ArrayBuffer>): Promise<void> => {
    let at = 0;
    for (; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
      const bytes = encoder.encode(samples.slice(at, at + FRAME_SAMPLES));
      // What the last frame has too much is cut off by its length.
      const length = Math.min(FRAME_SAMPLES, total - done) / CLOCK_HZ;
      const packet = new EncodedPacket(bytes, 'key', done / CLOCK_HZ, length);
      await source.add(packet, { decoderConfig: DECODER });
      done += FRAME_SAMPLES;
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
      const missing = Math.ceil((total - done) / FRAME_SAMPLES);
      await encodeFrames(
        concatenate(waiting, new Int16Array(missing * FRAME_SAMPLES - waiting.length)),
      );
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
