import {
  ALL_FORMATS,
  AudioSampleSink,
  BufferSource,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
} from 'mediabunny';
import type { Waveform } from '../sound/sound.js';

/** Loudness values per second of audio. */
export const LOUDNESS_RATE = 50;
/** Of longer media only this much is measured. */
const MAX_SECONDS = 10 * 3600;

/** What the sandbox learns from an uploaded recording. */
export interface HeardAudio {
  readonly seconds: number;
  /** Text of the comment tag. In the sandbox's own speech it holds the words. */
  readonly comment: string | undefined;
  /**
   * Loudness from 0 to 1, 50 values per second. It is computed from the samples of PCM, and estimated from packet sizes
   * for other codecs.
   */
  readonly loudness: Float32Array;
  readonly hasVideo: boolean;
}

/** Measures a recording. Undefined when its length cannot be read. */
export async function hearAudio(file: Buffer): Promise<HeardAudio | undefined> {
  const aiff = aiffSeconds(file);
  if (aiff !== undefined) {
    const loudness = emptyLoudness(aiff).fill(0.5);
    return { seconds: aiff, comment: undefined, loudness, hasVideo: false };
  }
  const input = new Input({ source: new BufferSource(file), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryAudioTrack();
    const seconds = Math.min(MAX_SECONDS, (await track?.computeDuration()) ?? 0);
    if (track === null || !(seconds > 0)) return undefined;
    return {
      seconds,
      comment: await readComment(input),
      loudness: await hearLoudness(track, seconds),
      hasVideo: (await input.getPrimaryVideoTrack()) !== null,
    };
  } catch {
    return undefined;
  } finally {
    input.dispose();
  }
}

async function readComment(input: Input): Promise<string | undefined> {
  const { comment } = await input.getMetadataTags();
  const format = await input.getFormat();
  if (comment === undefined || format.name !== 'WAVE') return comment;
  // RIFF tags name no encoding, and they are read byte by byte. The sandbox writes them in UTF-8.
  const text = Buffer.from(comment, 'latin1').toString('utf8');
  return text.includes('\uFFFD') ? comment : text;
}

function emptyLoudness(seconds: number): Float32Array {
  return new Float32Array(Math.max(1, Math.ceil(seconds * LOUDNESS_RATE)));
}

async function hearLoudness(track: InputAudioTrack, seconds: number): Promise<Float32Array> {
  const loudness = emptyLoudness(seconds);
  const codec = await track.getCodec();
  if (codec?.startsWith('pcm-') === true) await hearSamples(track, loudness);
  else await hearPackets(track, loudness);
  const loudest = loudness.reduce((max, value) => Math.max(max, value), 0);
  return loudest === 0 ? loudness : loudness.map((value) => value / loudest);
}

async function hearSamples(track: InputAudioTrack, loudness: Float32Array): Promise<void> {
  for await (const sample of new AudioSampleSink(track).samples()) {
    const values = new Float32Array(sample.numberOfFrames);
    sample.copyTo(values, { planeIndex: 0, format: 'f32-planar' });
    values.forEach((value, index) => {
      const at = Math.floor((sample.timestamp + index / sample.sampleRate) * LOUDNESS_RATE);
      if (at < loudness.length) loudness[at] = Math.max(loudness[at] ?? 0, Math.abs(value));
    });
    sample.close();
  }
}

async function hearPackets(track: InputAudioTrack, loudness: Float32Array): Promise<void> {
  const packets = new EncodedPacketSink(track).packets(undefined, undefined, {
    metadataOnly: true,
  });
  for await (const packet of packets) {
    const start = Math.max(0, Math.floor(packet.timestamp * LOUDNESS_RATE));
    const end = Math.ceil((packet.timestamp + packet.duration) * LOUDNESS_RATE);
    loudness.fill(packet.byteLength, start, Math.min(end, loudness.length));
  }
}

/** Seconds of an AIFF or AIFC file by its COMM chunk (frames and an 80-bit rate); undefined for anything else. */
export function aiffSeconds(file: Buffer): number | undefined {
  if (file.toString('latin1', 0, 4) !== 'FORM') return undefined;
  if (!['AIFF', 'AIFC'].includes(file.toString('latin1', 8, 12))) return undefined;
  for (let at = 12; at + 8 <= file.length;) {
    const size = file.readUInt32BE(at + 4);
    if (file.toString('latin1', at, at + 4) === 'COMM' && at + 26 <= file.length) {
      const frames = file.readUInt32BE(at + 10);
      const exponent = file.readUInt16BE(at + 16) - 16_383 - 31;
      const rate = file.readUInt32BE(at + 18) * 2 ** exponent;
      return rate > 0 ? frames / rate : undefined;
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** Looked up once, because they are called for every sample. */
const { floor } = Math;

/** A sound whose loudness follows that of a recording. */
export function shapedSound(sound: Waveform, loudness: Float32Array): Waveform {
  return {
    seconds: sound.seconds,
    open(sampleRate) {
      const fill = sound.open(sampleRate);
      let position = 0;
      return (block) => {
        fill(block);
        for (let i = 0; i < block.length; i++) {
          const at = (position++ / sampleRate) * LOUDNESS_RATE;
          const index = floor(at);
          const here = loudness[index] ?? 0;
          const next = loudness[index + 1] ?? here;
          block[i] = (block[i] ?? 0) * (here + (next - here) * (at - index));
        }
      };
    },
  };
}
