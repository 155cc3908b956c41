import type { SoundFormat } from './audio-format.js';

/** Writes one file of one codec, piece by piece. */
export interface SoundWriter {
  encode(samples: Float32Array): Uint8Array;
  finish(): Uint8Array;
  /** Gives back what the codec holds; also after an unfinished file. */
  release(): void;
}

/** What a writer must know before the first byte. */
export interface AudioFileFacts {
  readonly format: SoundFormat;
  readonly totalSamples: number;
  /** Free text kept in the file's tag (ID3, RIFF LIST, Vorbis comment); raw PCM has no place for it. */
  readonly comment: string;
}
