import { createMp3Encoder } from 'wasm-media-encoders';

import { tone } from './wav-file.js';

/** An MP3 of a tone at a constant bit rate, as an encoder for streams writes it: without an information frame. */
export async function mp3File(
  seconds: number,
  fields: {
    rateHz?: 8000 | 16000 | 22050 | 44100;
    channels?: 1 | 2;
    kbps?: 32 | 64 | 128 | 320;
  } = {},
): Promise<Buffer> {
  const { rateHz = 44_100, channels = 1, kbps = 64 } = fields;
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate: rateHz, channels, bitrate: kbps });
  const samples = Float32Array.from(
    tone(Math.round(seconds * rateHz), rateHz),
    (value) => value / 32_768,
  );
  const parts: Buffer[] = [];
  // The encoder returns a view of its own memory, so each part is copied before the next call.
  const input = channels === 1 ? [samples] : [samples, samples];
  parts.push(Buffer.from(encoder.encode(input)));
  parts.push(Buffer.from(encoder.finalize()));
  return Buffer.concat(parts);
}
