import { describe, expect, it } from '@jest/globals';
import { BAND } from './music-score.js';
import { PARTS } from './music-sound.js';
import { type Piece, playedNotes, secondsOf, soundOf } from './piece.js';

const RATE = 8000;
const song: Piece = {
  kind: 'song',
  style: 'a slow waltz',
  lyrics: '[Verse]\nBoats on the water',
  seconds: 4,
  pitchHz: 200,
};
const effect: Piece = { kind: 'effect', prompt: 'rain', seconds: 1, loops: false };
const PIECES: readonly (readonly [name: string, piece: Piece])[] = [
  ['a song', song],
  ['a cut', { kind: 'cut', of: song, start: 1, end: 3 }],
  ['a chain', { kind: 'chain', parts: [song, { kind: 'silence', seconds: 1 }, effect] }],
  ['a mix', { kind: 'mix', parts: [song, effect] }],
  ['a fade', { kind: 'faded', of: song, in: 1, out: 2 }],
  ['a faster song', { kind: 'faster', of: song, factor: 2, keepsPitch: true }],
  ['a faster and higher song', { kind: 'faster', of: song, factor: 1.6, keepsPitch: false }],
];

function samplesOf(piece: Piece): Float32Array {
  const sound = soundOf(piece);
  const samples = new Float32Array(Math.round(sound.seconds * RATE));
  sound.open(RATE)(samples);
  return samples;
}

const loudest = (samples: Float32Array): number =>
  samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);

describe('a piece', () => {
  it.each(PIECES)('%s lasts as long as it says, and can be heard', (_, piece) => {
    expect(soundOf(piece).seconds).toBeCloseTo(secondsOf(piece), 5);
    expect(loudest(samplesOf(piece))).toBeGreaterThan(0.05);
  });

  it.each(PIECES)('%s is the sum of its parts', (_, piece) => {
    const sum = new Float32Array(samplesOf(piece).length);
    for (const part of PARTS) {
      samplesOf({ kind: 'parts', of: piece, parts: [part] }).forEach((sample, index) => {
        sum[index] = (sum[index] ?? 0) + sample;
      });
    }
    const difference = samplesOf(piece).map((sample, index) => sample - (sum[index] ?? 0));
    expect(loudest(difference)).toBeLessThan(1e-5);
  });

  it('is cut out of the very samples of its source', () => {
    const cut = samplesOf({ kind: 'cut', of: song, start: 1, end: 2 });
    expect(cut).toEqual(samplesOf(song).subarray(RATE, 2 * RATE));
  });

  it('fades in from nothing', () => {
    const faded = samplesOf({ kind: 'faded', of: song, in: 2, out: 0 });
    expect(loudest(faded.subarray(0, RATE / 20))).toBeLessThan(0.05);
  });

  it('is played from notes within its length', () => {
    for (const [, piece] of PIECES) {
      const notes = BAND.flatMap((instrument) => playedNotes(piece, instrument));
      expect(notes.length).toBeGreaterThan(0);
      for (const { start, end, pitch } of notes) {
        expect(start).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(secondsOf(piece) + 1e-9);
        expect(end).toBeGreaterThan(start);
        expect(pitch).toBeGreaterThanOrEqual(0);
        expect(pitch).toBeLessThanOrEqual(127);
      }
    }
  });

  it('has no notes of an instrument that does not play', () => {
    const vocals: Piece = { kind: 'parts', of: song, parts: ['vocals'] };
    expect(playedNotes(vocals, 'bass')).toEqual([]);
  });
});
