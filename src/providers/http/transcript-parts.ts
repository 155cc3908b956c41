import type { TranscriptWord } from '../ports/transcript.port.js';

const SPACE: TranscriptWord = { text: ' ', type: 'spacing', start: null, end: null, speaker: null };

/** Words with the spaces between them, as the port has them. */
export function spaced(words: readonly TranscriptWord[]): TranscriptWord[] {
  return words.flatMap((word, index) => (index === 0 ? [word] : [SPACE, word]));
}

/** What is shown at once. Times are seconds from the start of the recording; a missing one counts as 0. */
export interface Subtitle {
  readonly start: number | null;
  readonly end: number | null;
  readonly text: string;
  readonly speaker: string | null;
}

/** Subtitles as SubRip text; the speaker stands before the text where one is told. */
export function subRipOf(subtitles: readonly Subtitle[]): string {
  return subtitles
    .map(({ start, end, text, speaker }, index) => {
      const words = text.replaceAll(/\s+/g, ' ').trim();
      const line = speaker === null ? words : `[${speaker}] ${words}`;
      return `${index + 1}\n${clock(start ?? 0)} --> ${clock(end ?? 0)}\n${line}\n`;
    })
    .join('\n');
}

/** Seconds as `HH:MM:SS,mmm`. */
function clock(seconds: number): string {
  const ms = Math.max(0, Math.round(seconds * 1_000));
  const [hours, minutes, rest] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map(
    (value) => String(Math.floor(value)).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${rest},${String(ms % 1_000).padStart(3, '0')}`;
}
