import { LOUDNESS_RATE } from './heard-audio.js';
import type { Waveform } from '../sound/sound.js';

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
