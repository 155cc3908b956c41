import { ApiProperty } from '@nestjs/swagger';
import type { AlignmentResult } from '../providers/ports/transcript.port.js';

const nullableNumber = { type: Number, nullable: true } as const;

/** One word of the text and its times in the recording. */
export class AlignedWordView {
  @ApiProperty({ example: 'Hello', description: 'The word' })
  text!: string;

  @ApiProperty({ ...nullableNumber, description: 'Seconds from the start' })
  start!: number | null;

  @ApiProperty({ ...nullableNumber, description: 'Seconds from the start' })
  end!: number | null;

  @ApiProperty({ ...nullableNumber, description: 'How badly the word fits; 0 is perfect' })
  loss!: number | null;
}

/** When each word is spoken (API: Alignment response). */
export class AlignmentView {
  @ApiProperty({ type: [AlignedWordView], description: 'The words of the text in their order' })
  words!: AlignedWordView[];

  @ApiProperty({ ...nullableNumber, description: 'How badly the whole text fits' })
  loss!: number | null;
}

/** The alignment as clients see it. */
export function viewAlignment({ words, loss }: AlignmentResult): AlignmentView {
  return { words: words.map((word) => ({ ...word })), loss };
}
