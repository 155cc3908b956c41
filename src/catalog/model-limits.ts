import type { SongShape } from './song-shape.js';

/** The lists of frames that a video model may take: it begins with an image, or also ends with one. */
export const FRAME_LISTS = [['first'], ['first', 'last']] as const;
export type VideoFrame = (typeof FRAME_LISTS)[number][number];

/** All limits that a model may have. Text lengths are Unicode code points; each operation uses some. */
export interface Limits {
  readonly maxOutputTokens: number;
  /** Tokens of prompt and completion together, where they are known. */
  readonly contextLength: number;
  readonly sizes: readonly string[];
  /** What a caller may choose of an image; the first quality holds where none is named. */
  readonly qualities: readonly string[];
  readonly backgrounds: readonly string[];
  readonly outputFormats: readonly string[];
  /** Images of one call. */
  readonly maxN: number;
  /** Images that an edit may take; without it the model edits none. */
  readonly maxEditImages: number;
  readonly sizePattern: string;
  readonly aspectRatios: readonly string[];
  readonly maxImageUrls: number;
  /** The resolutions of which a caller may choose one; the first holds where none is named. */
  readonly resolutions: readonly string[];
  /** Whether a caller may choose that a video has sound. */
  readonly audio: boolean;
  /** The frames of a video for which a caller may give an image. */
  readonly frames: readonly VideoFrame[];
  readonly maxInput: number;
  /** Different voices of one dialogue. */
  readonly maxVoices: number;
  /** How many numbers of a vector a caller may ask for. */
  readonly dimensions: readonly [min: number, max: number];
  /** Tokens of one input. */
  readonly maxInputTokens: number;
  /** Inputs of one call. */
  readonly maxInputs: number;
  /** Bounds of media length, inclusive, in whole seconds or microseconds (decision G-19). */
  readonly maxSeconds: number;
  readonly minMicros: number;
  /** Names the fields of the body, so a new song model needs only one more row. */
  readonly shape: SongShape;
  /** The stems that the model knows, where an operator has listed them. */
  readonly stemTypes: readonly string[];
}
