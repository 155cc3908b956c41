import type { AttemptContext } from './attempt.js';
import type { MediaFile } from './audio.port.js';

/** A recording to transcribe. Absent fields are not sent. */
export interface TranscriptionCommand {
  readonly media: MediaFile;
  readonly language?: string | undefined;
  readonly diarize?: boolean | undefined;
  readonly numSpeakers?: number | undefined;
  readonly tagAudioEvents?: boolean | undefined;
  readonly timestamps?: 'none' | 'word' | 'character' | undefined;
  /** Asks for SubRip subtitles. It also turns on speaker labels and word timings at the provider. */
  readonly subtitles?: boolean | undefined;
  readonly temperature?: number | undefined;
}

/** A word, space or sound of a transcript. Times are seconds from the start of the recording. */
export interface TranscriptWord {
  readonly text: string;
  readonly type: string;
  readonly start: number | null;
  readonly end: number | null;
  /** Null unless `diarize` was asked for. */
  readonly speaker: string | null;
}

/** A transcript. */
export interface TranscriptionResult {
  readonly text: string;
  readonly language: string | null;
  readonly languageProbability: number | null;
  readonly words: readonly TranscriptWord[];
  /** SubRip text; null unless `subtitles` was asked for. */
  readonly srt: string | null;
  readonly providerRequestId: string | null;
}

/** Speech to text (API: POST /v1/audio/transcriptions). */
export interface TranscriptionPort {
  /**
   * The fields, by their public names, that this model of the provider cannot do as they are asked; empty: all is done. `file` is
   * the recording. Absent: it does everything.
   */
  readonly lacks?: (command: TranscriptionCommand, upstreamModel: string) => readonly string[];
  transcribe(command: TranscriptionCommand, context: AttemptContext): Promise<TranscriptionResult>;
}

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
