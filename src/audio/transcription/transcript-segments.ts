import type { TranscriptWord } from '../../providers/ports/transcript.port.js';

/** A sentence of a transcript. Times are seconds from the start of the recording. */
export interface TranscriptSegment {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  /** With the space before it: the texts of all segments in a row are the transcript. */
  readonly text: string;
}

/** A sentence without an end is split after this many seconds. */
const MAX_SEGMENT_SECONDS = 30;
const SENTENCE_END = /[.!?…。！？]["'”’)\]]*$/;

/**
 * The words as segments: one for each sentence of a speaker, of 30 s at most. Without words the whole text is one
 * segment. A time that the provider does not report is the previous one.
 */
export function segmentsOf(
  text: string,
  words: readonly TranscriptWord[],
  durationSeconds: number,
): TranscriptSegment[] {
  const sentences = sentencesOf(words);
  if (sentences.length === 0) {
    return text === '' ? [] : [{ id: 0, start: 0, end: durationSeconds, text }];
  }
  let now = 0;
  return sentences.map((sentence, id) => {
    const start = timed(sentence, 'start')[0] ?? now;
    now = Math.max(start, timed(sentence, 'end').at(-1) ?? start);
    return { id, start, end: now, text: sentence.map((word) => word.text).join('') };
  });
}

/** Times of audible words; spaces are ignored. */
function timed(sentence: readonly TranscriptWord[], edge: 'start' | 'end'): number[] {
  return sentence
    .filter(isHeard)
    .map((word) => word[edge])
    .filter((time) => time !== null);
}

function sentencesOf(words: readonly TranscriptWord[]): TranscriptWord[][] {
  const sentences: TranscriptWord[][] = [];
  for (const word of words) {
    const current = sentences.at(-1);
    if (current === undefined || isComplete(current) || isOfAnother(current, word)) {
      sentences.push([word]);
    } else {
      current.push(word);
    }
  }
  const last = sentences.at(-1);
  // A space after the last sentence does not become a segment.
  if (sentences.length > 1 && last && !last.some(isHeard)) {
    sentences.pop();
    sentences.at(-1)?.push(...last);
  }
  return sentences;
}

function isComplete(sentence: readonly TranscriptWord[]): boolean {
  const last = sentence.at(-1);
  return last !== undefined && isHeard(last) && SENTENCE_END.test(last.text);
}

/** Whether the word is of another speaker, or too late for the sentence. */
function isOfAnother(sentence: readonly TranscriptWord[], word: TranscriptWord): boolean {
  const first = sentence.find(isHeard);
  if (first === undefined || !isHeard(word)) return false;
  if (word.speaker !== first.speaker) return true;
  return (word.end ?? 0) - (first.start ?? 0) > MAX_SEGMENT_SECONDS;
}

function isHeard({ type }: TranscriptWord): boolean {
  return type !== 'spacing';
}
