import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
} from 'mediabunny';

import { opusHeaders, packetsOfOpus } from './ogg-file.js';

const OPUS_RATE_HZ = 48_000;
const PACKET_SECONDS = 0.02;

/** A WebM or MP4 with one Opus track of this many samples at 48 kHz. */
export function muxedOpus(container: 'webm' | 'mp4', samples: number): Promise<Buffer> {
  return muxedTracks(container, [samples]);
}

/** A WebM or MP4 with an Opus track for each of these lengths, in samples at 48 kHz. */
export async function muxedTracks(
  container: 'webm' | 'mp4',
  lengths: readonly number[],
): Promise<Buffer> {
  const target = new BufferTarget();
  const format = container === 'webm' ? new WebMOutputFormat() : new Mp4OutputFormat();
  const output = new Output({ format, target });
  const sources = lengths.map(() => new EncodedAudioPacketSource('opus'));
  for (const source of sources) output.addAudioTrack(source);
  await output.start();
  await Promise.all(
    sources.map(async (source, index) => {
      const packets = packetsOfOpus(lengths[index] ?? 0);
      for (const [number, data] of packets.entries()) {
        const packet = new EncodedPacket(data, 'key', number * PACKET_SECONDS, PACKET_SECONDS);
        await source.add(packet, { decoderConfig: OPUS_CONFIG });
      }
      source.close();
    }),
  );
  await output.finalize();
  if (target.buffer === null) throw new Error('the muxer made no file');
  return Buffer.from(target.buffer);
}

const OPUS_CONFIG = {
  codec: 'opus',
  numberOfChannels: 1,
  sampleRate: OPUS_RATE_HZ,
  description: opusHeaders()[0] ?? new Uint8Array(),
};
