import type { SoundFormat } from './audio-format.js';

/** Writes one file of one codec, piece by piece. */
export interface SoundWriter {
  encode(samples: Float32Array): Uint8Array;
  finish(): Uint8Array;
  /** Frees what the codec holds. To be called after an unfinished file too. */
  release(): void;
}

/** What a writer has to know before the first byte. */
export interface AudioFileFacts {
  readonly format: SoundFormat;
  readonly totalSamples: number;
  /** Free text for the tag of the file (ID3, RIFF LIST, Vorbis comment). Raw PCM has no tag. */
  readonly comment: string;
}
