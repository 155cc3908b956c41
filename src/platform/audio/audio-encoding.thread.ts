import { openSoundWriter } from '../../common/audio/open-sound-writer.js';
import { answerRequests } from '../fairness/worker-thread.js';
import type { EncodingRequest } from './audio-encoding.js';

const FULL_SCALE = 32_768;

/** The whole file. */
async function encoded({ samples, sampleRate, format }: EncodingRequest): Promise<Uint8Array> {
  const all = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const totalSamples = all.length >> 1;
  const writer = await openSoundWriter({
    format,
    totalSamples,
    comment: '',
    inputRate: sampleRate,
  });
  try {
    const file: Uint8Array[] = [];
    for (let done = 0; done < totalSamples; done += sampleRate) {
      const count = Math.min(sampleRate, totalSamples - done);
      const second = Float32Array.from(
        { length: count },
        (_, index) => all.readInt16LE(2 * (done + index)) / FULL_SCALE,
      );
      file.push(await writer.encode(second));
    }
    file.push(await writer.finish());
    return Buffer.concat(file);
  } finally {
    writer.release();
  }
}

answerRequests(encoded);
