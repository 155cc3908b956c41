import { hashText, seededRandom } from '../seeded-random.js';

/** Chords, one per bar, as steps of the scale. */
const PROGRESSIONS = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [5, 3, 0, 4],
  [0, 3, 1, 4],
];
const MAJOR = [0, 2, 4, 5, 7, 9, 11];
const MINOR = [0, 2, 3, 5, 7, 8, 10];
const BEATS_PER_BAR = 4;
const STEPS_PER_BEAT = 2;
const MELODY_STEPS = 32;
/** General MIDI numbers of the drums. */
const [KICK, SNARE, HAT] = [36, 38, 42];

/** Time steps in a bar. */
export const STEPS_PER_BAR = BEATS_PER_BAR * STEPS_PER_BEAT;

/** A piece as notes; pitches are MIDI numbers. */
export interface Score {
  readonly beatsPerMinute: number;
  readonly stepSeconds: number;
  /** One per bar; repeated to the end of the piece. */
  readonly chords: readonly (readonly number[])[];
  /** One per time step, repeated to the end of the piece; 0 is a rest. */
  readonly melody: readonly number[];
  readonly seed: number;
}

/** A note of one instrument, in seconds; velocity 0 to 1. */
export interface Note {
  readonly pitch: number;
  readonly start: number;
  readonly end: number;
  readonly velocity: number;
}

/** The instruments that play. */
export const BAND = ['drums', 'bass', 'lead', 'pad'] as const;
/** One instrument. */
export type Instrument = (typeof BAND)[number];

/** Composes a piece from a prompt; the same prompt always gives the same piece. `tempo` 2 is twice as fast. */
export function composed(prompt: string, tempo = 1): Score {
  const seed = hashText(prompt);
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const scale = /sad|dark|minor|melanchol|slow/i.test(prompt) ? MINOR : pick([MAJOR, MINOR, MAJOR]);
  const beatsPerMinute = (80 + Math.floor(random() * 60)) * tempo;
  const key = 45 + Math.floor(random() * 12);
  const pitch = (degree: number, octave: number): number => {
    const step = scale[degree % scale.length] ?? 0;
    return key + step + 12 * (octave + Math.floor(degree / scale.length));
  };
  const progression = pick(PROGRESSIONS);
  return {
    beatsPerMinute,
    stepSeconds: 60 / beatsPerMinute / STEPS_PER_BEAT,
    chords: progression.map((root) => [root, root + 2, root + 4].map((degree) => pitch(degree, 1))),
    melody: Array.from({ length: MELODY_STEPS }, (_, step) => {
      const root = progression[Math.floor(step / STEPS_PER_BAR) % progression.length] ?? 0;
      return random() < 0.35 ? 0 : pitch(root + pick([0, 2, 4, 6, 7]), 2);
    }),
    seed,
  };
}

/** What one instrument plays in the first `seconds` of a piece. */
export function notesOf(score: Score, instrument: Instrument, seconds: number): Note[] {
  const notes: Note[] = [];
  const steps = Math.ceil(seconds / score.stepSeconds);
  for (let step = 0; step < steps; step++) {
    for (const { pitch, length, velocity } of struck(score, instrument, step)) {
      const start = step * score.stepSeconds;
      const end = Math.min(seconds, start + length * score.stepSeconds);
      notes.push({ pitch, start, end, velocity });
    }
  }
  return notes;
}

interface Strike {
  readonly pitch: number;
  /** Length in time steps. */
  readonly length: number;
  readonly velocity: number;
}

function struck(score: Score, instrument: Instrument, step: number): readonly Strike[] {
  const isBar = step % STEPS_PER_BAR === 0;
  const chord = score.chords[Math.floor(step / STEPS_PER_BAR) % score.chords.length] ?? [];
  switch (instrument) {
    case 'drums':
      return drumsAt(step).map((pitch) => ({ pitch, length: 1, velocity: 0.7 }));
    case 'lead': {
      const pitch = score.melody[step % score.melody.length] ?? 0;
      return pitch === 0 ? [] : [{ pitch, length: 1, velocity: 0.8 }];
    }
    case 'bass':
      return isBar ? chord.slice(0, 1).map((root) => strikeOfBar(root - 12, 0.75)) : [];
    case 'pad':
      return isBar ? chord.map((pitch) => strikeOfBar(pitch, 0.5)) : [];
  }
}

const strikeOfBar = (pitch: number, velocity: number): Strike => ({
  pitch,
  length: STEPS_PER_BAR,
  velocity,
});

function drumsAt(step: number): readonly number[] {
  if (step % 4 === 0) return [KICK, HAT];
  return step % 4 === 2 ? [SNARE, HAT] : [HAT];
}
