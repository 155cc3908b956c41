import { ApiProperty } from '@nestjs/swagger';
import type { TranscriptionResult, TranscriptWord } from '../../providers/ports/transcript.port.js';
import type { TranscriptionBody } from '../dto/recordings.body.js';
import { segmentsOf, type TranscriptSegment } from './transcript-segments.js';
import { wantedTimings } from './wanted-timings.js';

const nullableNumber = { type: Number, nullable: true } as const;
const nullableText = { type: String, nullable: true } as const;

/** One word, space or sound of a transcript. */
export class TranscriptWordView {
  @ApiProperty({ example: 'Hello', description: 'The word, the space or the name of the sound' })
  text!: string;

  @ApiProperty({ example: 'Hello', description: '`text` under the name of the OpenAI API' })
  word!: string;

  @ApiProperty({ example: 'word', description: '`word`, `spacing`, `audio_event`, …' })
  type!: string;

  @ApiProperty({ ...nullableNumber, description: 'Seconds from the start' })
  start!: number | null;

  @ApiProperty({ ...nullableNumber, description: 'Seconds from the start' })
  end!: number | null;

  @ApiProperty({ ...nullableText, description: 'Set when `diarize` is on' })
  speaker!: string | null;
}

/**
 * One sentence of a transcript. Clients of the OpenAI API fail if a field of a segment is missing; the fields about the
 * model's confidence are constants.
 */
export class TranscriptSegmentView {
  @ApiProperty({ example: 0, description: 'Position of the segment, from 0' })
  id!: number;

  @ApiProperty({ example: 0.1, description: 'Seconds from the start' })
  start!: number;

  @ApiProperty({ example: 1.2, description: 'Seconds from the start' })
  end!: number;

  @ApiProperty({ example: 'Hello, who is there?', description: 'The words of the segment' })
  text!: string;

  @ApiProperty({ description: 'As sent, or 0' })
  temperature!: number;

  @ApiProperty({ enum: [0], description: 'Constant' })
  seek!: 0;

  @ApiProperty({ type: [Number], maxItems: 0, description: 'Empty' })
  tokens!: [];

  @ApiProperty({ enum: [0], description: 'Constant' })
  avg_logprob!: 0;

  @ApiProperty({ enum: [1], description: 'Constant' })
  compression_ratio!: 1;

  @ApiProperty({ enum: [0], description: 'Constant' })
  no_speech_prob!: 0;
}

/** A transcript (API: Transcription response). */
export class TranscriptionView {
  @ApiProperty({ example: 'Hello, who is there?', description: 'Everything that was said' })
  text!: string;

  @ApiProperty({ ...nullableText, example: 'eng', description: 'Detected or used' })
  language!: string | null;

  @ApiProperty({ ...nullableNumber, description: '0 to 1' })
  language_probability!: number | null;

  @ApiProperty({ example: 12.34, description: 'Measured length, seconds' })
  duration_seconds!: number;

  @ApiProperty({ required: false, enum: ['transcribe'], description: 'With `verbose_json`' })
  task?: 'transcribe';

  @ApiProperty({
    required: false,
    example: 12.34,
    description: '`duration_seconds` under the name of the OpenAI API, with `verbose_json`',
  })
  duration?: number;

  @ApiProperty({
    type: [TranscriptWordView],
    required: false,
    description:
      'With `timestamps`, or `verbose_json` unless `timestamps` is `none` or `timestamp_granularities` names segments alone',
  })
  words?: TranscriptWordView[];

  @ApiProperty({
    type: [TranscriptSegmentView],
    required: false,
    description: 'With `verbose_json` unless `timestamps` is `none`, or `timestamp_granularities`',
  })
  segments?: TranscriptSegmentView[];

  @ApiProperty({ required: false, description: 'SubRip subtitles, with `subtitles`' })
  srt?: string;
}

/** The transcript as the caller requested it: what was not requested is absent (decisions G-02, G-46). */
export function viewTranscript(
  result: TranscriptionResult,
  body: TranscriptionBody,
  durationSeconds: number,
): TranscriptionView {
  const { words, segments } = wantedTimings(body);
  const { temperature = 0, response_format: format } = body;
  const verbose = { task: 'transcribe', duration: durationSeconds } as const;
  const viewSegment = (segment: TranscriptSegment) => ({ ...segment, temperature, ...CONSTANTS });
  return {
    text: result.text,
    language: result.language,
    language_probability: result.languageProbability,
    duration_seconds: durationSeconds,
    ...(format === 'verbose_json' && verbose),
    ...(words && { words: result.words.map(viewWord) }),
    ...(segments && {
      segments: segmentsOf(result.text, result.words, durationSeconds).map(viewSegment),
    }),
    ...(result.srt !== null && { srt: result.srt }),
  };
}

const CONSTANTS = {
  seek: 0,
  tokens: [] as [],
  avg_logprob: 0,
  compression_ratio: 1,
  no_speech_prob: 0,
} as const;

function viewWord({ text, type, start, end, speaker }: TranscriptWord): TranscriptWordView {
  return { text, word: text, type, start, end, speaker };
}
