import type { HeardWord } from './transcript.js';

/** Where subtitles are cut. Names and defaults are those of the vendor. */
export interface SubtitleOptions {
  readonly includeSpeakers: boolean;
  readonly maxSegmentSeconds: number;
  readonly maxSegmentCharacters: number;
  readonly maxLineCharacters: number;
}

/**
 * Words as SRT: numbered segments with times. A segment ends at a length, at a duration and where the speaker changes.
 */
export function toSrt(words: readonly HeardWord[], options: SubtitleOptions): string {
  return segmentsOf(words, options)
    .map((segment, index) => {
      const first = segment[0];
      const start = first?.start ?? 0;
      const end = segment.at(-1)?.end ?? start;
      const speaker = options.includeSpeakers ? `[speaker_${first?.speaker ?? 0}] ` : '';
      const text = `${speaker}${segment.map((word) => word.text).join(' ')}`;
      return `${index + 1}\n${clock(start)} --> ${clock(end)}\n${wrap(text, options.maxLineCharacters)}\n`;
    })
    .join('\n');
}

function segmentsOf(
  words: readonly HeardWord[],
  options: SubtitleOptions,
): (readonly HeardWord[])[] {
  const segments: HeardWord[][] = [];
  let characters = 0;
  for (const word of words.filter(({ type }) => type !== 'spacing')) {
    const open = segments.at(-1);
    const first = open?.[0];
    const isFull =
      first?.speaker !== word.speaker ||
      word.end - first.start > options.maxSegmentSeconds ||
      characters + word.text.length + 1 > options.maxSegmentCharacters;
    if (isFull) segments.push([word]);
    else open?.push(word);
    characters = (isFull ? 0 : characters + 1) + word.text.length;
  }
  return segments;
}

function wrap(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

/** Seconds as `HH:MM:SS,mmm`. */
function clock(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const [hours, minutes, rest] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map(
    (value) => String(Math.floor(value)).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${rest},${String(ms % 1000).padStart(3, '0')}`;
}
