import { describe, expect, it } from '@jest/globals';
import type { TranscriptWord } from '../../providers/ports/transcript.port.js';
import { segmentsOf } from './transcript-segments.js';

/** Words of a second each with spaces between, as the provider tells them. */
function spoken(text: string, speakerOf: (word: string) => string | null = () => null) {
  let now = 0;
  return text.split(/( )/).map((part): TranscriptWord => {
    const isSpace = part === ' ';
    const start = now;
    now += isSpace ? 0.5 : 1;
    const type = isSpace ? 'spacing' : 'word';
    return { text: part, type, start, end: now, speaker: isSpace ? null : speakerOf(part) };
  });
}
const textsOf = (text: string, words: readonly TranscriptWord[]) =>
  segmentsOf(text, words, 10).map((segment) => segment.text);

describe('segmentsOf', () => {
  it('makes one segment of each sentence; the joined texts are the transcript', () => {
    const text = 'Hello there. Who is it? Me';
    expect(segmentsOf(text, spoken(text), 10)).toEqual([
      { id: 0, start: 0, end: 2.5, text: 'Hello there.' },
      { id: 1, start: 3, end: 7, text: ' Who is it?' },
      { id: 2, start: 7.5, end: 8.5, text: ' Me' },
    ]);
  });

  it('begins a segment when the speaker changes', () => {
    const text = 'hello you there';
    const words = spoken(text, (word) => (word === 'there' ? 'b' : 'a'));
    expect(textsOf(text, words)).toEqual(['hello you ', 'there']);
  });

  it('splits a sentence without an end after 30 s', () => {
    const text = Array.from({ length: 45 }, () => 'so').join(' ');
    const segments = segmentsOf(text, spoken(text), 70);
    expect(segments.every(({ start, end }) => end - start <= 30)).toBe(true);
    expect(segments.map((segment) => segment.text).join('')).toBe(text);
  });

  it('makes no segment of a space at the end', () => {
    expect(textsOf('Yes. ', spoken('Yes. ').slice(0, 2))).toEqual(['Yes. ']);
  });

  it('returns one segment if the provider reports no words, and none if the transcript is empty', () => {
    expect(segmentsOf('Hi', [], 10)).toEqual([{ id: 0, start: 0, end: 10, text: 'Hi' }]);
    expect(segmentsOf('', [], 10)).toEqual([]);
  });

  it('uses the previous time if the provider reports none', () => {
    const untold = { type: 'word', start: null, end: null, speaker: null };
    const words = [...spoken('One.'), { ...untold, text: ' Two.' }];
    expect(segmentsOf('One. Two.', words, 10)[1]).toMatchObject({ start: 1, end: 1 });
  });
});
