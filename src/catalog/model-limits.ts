import type { SongShape } from './song-shape.js';

/** All limits that a model may have. Text lengths are Unicode code points; each operation uses some. */
export interface Limits {
  readonly maxOutputTokens: number;
  /** Tokens of prompt and completion together, where they are known. */
  readonly contextLength: number;
  readonly sizes: readonly string[];
  readonly sizePattern: string;
  readonly aspectRatios: readonly string[];
  readonly maxImageUrls: number;
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
