import type { Waveform } from './sound.js';

/** Read once: these are called for every sample. */
const { max, min, round } = Math;

/** Samples that are rendered and thrown away at once to reach the beginning of a cut. */
const SKIP_BLOCK = 16_384;

/** Nothing to be heard. */
export function silence(seconds: number): Waveform {
  return { seconds, open: () => (block) => void block.fill(0) };
}

/** The part of a sound between two seconds. */
export function cutSound(sound: Waveform, start: number, end: number): Waveform {
  return {
    seconds: end - start,
    open(sampleRate) {
      const fill = sound.open(sampleRate);
      let left = round(start * sampleRate);
      return (block) => {
        for (; left > 0; left -= SKIP_BLOCK) fill(new Float32Array(min(left, SKIP_BLOCK)));
        fill(block);
      };
    },
  };
}

/** Sounds at the same time, each as loud as `gain` says; shorter ones are silent after their end. */
export function mixedSounds(sounds: readonly Waveform[], gain: number): Waveform {
  const seconds = max(...sounds.map((sound) => sound.seconds));
  return {
    seconds,
    open(sampleRate) {
      const voices = sounds.map((sound) => ({
        fill: sound.open(sampleRate),
        left: round(sound.seconds * sampleRate),
      }));
      return (block) => {
        block.fill(0);
        for (const voice of voices) {
          const heard = new Float32Array(min(block.length, voice.left));
          voice.fill(heard);
          voice.left -= heard.length;
          heard.forEach((sample, index) => (block[index] = (block[index] ?? 0) + gain * sample));
        }
      };
    },
  };
}

/** A sound that gets louder over its first seconds and softer over its last ones. */
export function fadedSound(sound: Waveform, inSeconds: number, outSeconds: number): Waveform {
  return {
    seconds: sound.seconds,
    open(sampleRate) {
      const fill = sound.open(sampleRate);
      let position = 0;
      return (block) => {
        fill(block);
        for (let index = 0; index < block.length; index++) {
          const at = position++ / sampleRate;
          const risen = inSeconds > 0 ? min(1, at / inSeconds) : 1;
          const left = max(0, sound.seconds - at);
          const fallen = outSeconds > 0 ? min(1, left / outSeconds) : 1;
          block[index] = (block[index] ?? 0) * risen * fallen;
        }
      };
    },
  };
}

/** A sound played faster, and higher for it, like a tape. */
export function pitchedSound(sound: Waveform, factor: number): Waveform {
  return {
    seconds: sound.seconds / factor,
    open: (sampleRate) => sound.open(sampleRate / factor),
  };
}
