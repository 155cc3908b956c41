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

/** To reach the beginning of a cut, samples are rendered in blocks of this size and dropped. */
const SKIP_BLOCK = 16_384;

/** A sound of silence. */
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

/** Sounds played at the same time. `gain` is their loudness; a shorter sound is silent after its end. */
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

/** A sound that grows louder in its first seconds and softer in its last ones. */
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

/** A sound played faster; its pitch rises as that of a tape does. */
export function pitchedSound(sound: Waveform, factor: number): Waveform {
  return {
    seconds: sound.seconds / factor,
    open: (sampleRate) => sound.open(sampleRate / factor),
  };
}
