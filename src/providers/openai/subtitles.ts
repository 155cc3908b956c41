import type { JsonObject } from '../../common/json-object.js';
import { numberAt, textAt } from '../http/json-fields.js';

/** SubRip text of timed segments, each one subtitle; the speaker stands before the text where one is told. */
export function subRipOfSegments(segments: readonly JsonObject[]): string {
  return segments
    .map((segment, index) => {
      const start = clock(numberAt(segment, 'start') ?? 0);
      const end = clock(numberAt(segment, 'end') ?? 0);
      const speaker = textAt(segment, 'speaker');
      const text = (textAt(segment, 'text') ?? '').replaceAll(/\s+/g, ' ').trim();
      const line = speaker === null ? text : `[${speaker}] ${text}`;
      return `${index + 1}\n${start} --> ${end}\n${line}\n`;
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
