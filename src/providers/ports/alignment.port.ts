import type { AttemptContext } from './attempt-context.js';
import type { MediaFile } from './media-file.js';

/** A recording and the text spoken in it. */
export interface AlignmentCommand {
  readonly media: MediaFile;
  readonly text: string;
}

/** A word of the text and its position in the recording, in seconds. */
export interface AlignedWord {
  readonly text: string;
  readonly start: number | null;
  readonly end: number | null;
  readonly loss: number | null;
}

/** The words in order, and the loss of the whole text. */
export interface AlignmentResult {
  readonly words: readonly AlignedWord[];
  readonly loss: number | null;
  readonly providerRequestId: string | null;
}

/** Forced alignment (API: POST /v1/audio/alignment). */
export interface AlignmentPort {
  align(command: AlignmentCommand, context: AttemptContext): Promise<AlignmentResult>;
}
