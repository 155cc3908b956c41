import { ApiProperty } from '@nestjs/swagger';
import type {
  TranscriptionResult,
  TranscriptWord,
} from '../../providers/ports/transcription.port.js';
import type { TranscriptionBody } from './dto/transcription.body.js';

const nullableNumber = { type: Number, nullable: true } as const;
const nullableText = { type: String, nullable: true } as const;

/** One word, space or sound of a transcript. */
export class TranscriptWordView {
  @ApiProperty({ example: 'Hello' })
  text!: string;

  @ApiProperty({ example: 'word', description: '`word`, `spacing`, `audio_event`, …' })
  type!: string;

  @ApiProperty({ ...nullableNumber, description: 'Seconds from the start' })
  start!: number | null;

  @ApiProperty({ ...nullableNumber, description: 'Seconds from the start' })
  end!: number | null;

  @ApiProperty({ ...nullableText, description: 'Set when `diarize` is on' })
  speaker!: string | null;
}

/** A transcript (spec: Transcription response). */
export class TranscriptionView {
  @ApiProperty({ example: 'Hello, who is there?' })
  text!: string;

  @ApiProperty({ ...nullableText, example: 'eng', description: 'Detected or used' })
  language!: string | null;

  @ApiProperty({ ...nullableNumber, description: '0 to 1' })
  language_probability!: number | null;

  @ApiProperty({ example: 12.34, description: 'Measured length, seconds' })
  duration_seconds!: number;

  @ApiProperty({
    type: [TranscriptWordView],
    required: false,
    description: 'With `timestamps`, or `verbose_json` unless `timestamps` is `none`',
  })
  words?: TranscriptWordView[];

  @ApiProperty({ required: false, description: 'SubRip subtitles, with `subtitles`' })
  srt?: string;
}

/** The transcript as the caller requested it: `words` and `srt` are absent unless requested (decision G-46). */
export function viewTranscript(
  result: TranscriptionResult,
  body: TranscriptionBody,
  durationSeconds: number,
): TranscriptionView {
  const { timestamps = body.response_format === 'verbose_json' ? 'word' : 'none' } = body;
  return {
    text: result.text,
    language: result.language,
    language_probability: result.languageProbability,
    duration_seconds: durationSeconds,
    ...(timestamps !== 'none' && { words: result.words.map(viewWord) }),
    ...(result.srt !== null && { srt: result.srt }),
  };
}

function viewWord({ text, type, start, end, speaker }: TranscriptWord): TranscriptWordView {
  return { text, type, start, end, speaker };
}
