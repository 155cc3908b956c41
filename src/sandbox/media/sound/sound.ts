/** Looked up once, because they are called for every sample. */
const { max, min, round } = Math;

/** Fills a block with mono samples (-1 to 1). Each call continues where the call before stopped. */
export type FillSamples = (block: Float32Array) => void;

/** Mono sound of a known length. It can be rendered at any sample rate and any number of times. */
export interface Waveform {
  readonly seconds: number;
  open(sampleRate: number): FillSamples;
}

/** Sounds one after the other as one sound. */
export function joinSounds(sounds: readonly Waveform[]): Waveform {
  return {
    seconds: sounds.reduce((sum, sound) => sum + sound.seconds, 0),
    open(sampleRate) {
      const parts = sounds.map((sound) => ({
        fill: sound.open(sampleRate),
        left: round(sound.seconds * sampleRate),
      }));
      return (block) => {
        let done = 0;
        while (done < block.length) {
          const part = parts[0];
          if (part === undefined) {
            block.fill(0, done);
            return;
          }
          const count = min(part.left, block.length - done);
          part.fill(block.subarray(done, done + count));
          part.left -= count;
          done += count;
          if (part.left === 0) parts.shift();
        }
      };
    },
  };
}

/** Samples as the 16-bit little-endian integers of WAV, PCM and the Opus encoder. */
export function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] ?? 0;
    integers[i] = round(max(-1, min(1, sample)) * 32767);
  }
  return integers;
}
