import type { HeardAudio } from '../media/audio-files/heard-audio.js';
import { LOUDNESS_RATE } from '../media/audio-files/heard-audio.js';
import { hashText, seededRandom } from '../media/seeded-random.js';
import { spokenCharacters } from '../media/sound/speech.js';

const SECONDS_PER_WORD = 0.4;
const SILENCE = 0.05;
const LEXICON = (
  'the and we they have seen a new way to make things work because every day brings another small question that ' +
  'people answer together with some patience while it keeps moving forward through open doors into bright rooms'
).split(' ');

/** One item of a transcript in the vendor's format; times are in seconds. */
export interface HeardWord {
  readonly text: string;
  readonly type: 'word' | 'spacing' | 'audio_event';
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
  readonly characters: readonly { text: string; start: number; end: number }[];
}

/** What a recording says. */
export interface Transcript {
  readonly text: string;
  readonly words: readonly HeardWord[];
}

/**
 * The words of a recording. For the sandbox's own speech they are the text it was made from (`remembered`, or the
 * comment tag of the file). Other recordings get made-up words, as many as fit their loud parts; none when they are
 * silent.
 */
export function transcriptOf(heard: HeardAudio, remembered?: string): Transcript {
  const known = remembered ?? heard.comment;
  const lines = (known ?? imagine(heard)).split('\n').map((line) => {
    const [, speaker, text] = /^speaker_(\d+): (.*)$/.exec(line) ?? [];
    return { speaker: Number(speaker ?? 0), text: text ?? line };
  });
  const text = lines.map((line) => line.text).join('\n');
  return { text, words: placeWords(lines, text, heard.seconds) };
}

/** The words of a text and the gaps between them, spread over a length. */
export function spreadWords(text: string, seconds: number): readonly HeardWord[] {
  return placeWords([{ speaker: 0, text }], text, seconds);
}

function placeWords(
  lines: readonly { speaker: number; text: string }[],
  text: string,
  seconds: number,
): HeardWord[] {
  const speakers = lines.flatMap((line) => Array.from(`${line.text}\n`, () => line.speaker));
  const timeline = spokenCharacters(text, seconds);
  let at = 0;
  return (text.match(/\[[^[\]\n]+\]|\s+|[^\s[]+|\[/g) ?? []).map((token) => {
    const length = Array.from(token).length;
    const characters = timeline.slice(at, at + length).map(({ character, start, end }) => ({
      text: character,
      start: toMilliseconds(start),
      end: toMilliseconds(end),
    }));
    const speaker = speakers[at] ?? 0;
    at += length;
    return {
      text: token,
      type: typeOf(token),
      start: characters[0]?.start ?? 0,
      end: characters.at(-1)?.end ?? 0,
      speaker,
      characters,
    };
  });
}

function typeOf(token: string): HeardWord['type'] {
  if (/^\s/.test(token)) return 'spacing';
  return /^\[.+\]$/.test(token) ? 'audio_event' : 'word';
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

function imagine({ loudness }: HeardAudio): string {
  const loud = loudness.filter((value) => value > SILENCE).length;
  const random = seededRandom(hashText(loudness.slice(0, 1000).join()));
  const count = Math.ceil(loud / LOUDNESS_RATE / SECONDS_PER_WORD);
  const words = Array.from(
    { length: count },
    () => LEXICON[Math.floor(random() * LEXICON.length)] ?? 'and',
  );
  const sentences: string[] = [];
  while (words.length > 0) {
    const [first = '', ...rest] = words.splice(0, 6 + Math.floor(random() * 7));
    sentences.push(`${[first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(' ')}.`);
  }
  return sentences.join(' ');
}
