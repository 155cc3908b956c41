import { setImmediate } from 'node:timers/promises';
import { openSoundWriter } from '../../../common/audio/open-sound-writer.js';
import type { SoundFormat } from '../../../common/audio/sound-writer.js';
import type { Waveform } from '../sound/sound.js';

/** Seconds of audio encoded in one turn of the event loop. It is small, so that many streams can share the thread. */
const SLICE_SECONDS = 0.25;

/** Encodes a sound as a file while the file is read: the first bytes come at once, and memory stays flat. */
export async function* encodeSound(
  sound: Waveform,
  format: SoundFormat,
  comment: string,
): AsyncGenerator<Uint8Array> {
  const totalSamples = Math.round(sound.seconds * format.sampleRate);
  const writer = await openSoundWriter({ format, totalSamples, comment });
  try {
    const fill = sound.open(format.sampleRate);
    const slice = new Float32Array(Math.round(SLICE_SECONDS * format.sampleRate));
    for (let done = 0; done < totalSamples; done += slice.length) {
      const block = slice.subarray(0, Math.min(slice.length, totalSamples - done));
      fill(block);
      const bytes = await writer.encode(block);
      if (bytes.length > 0) yield bytes;
      await setImmediate();
    }
    const rest = await writer.finish();
    if (rest.length > 0) yield rest;
  } finally {
    writer.release();
  }
}

/** The whole file of {@link encodeSound}. */
export async function encodedFile(
  sound: Waveform,
  format: SoundFormat,
  comment: string,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of encodeSound(sound, format, comment)) parts.push(part);
  return Buffer.concat(parts);
}
