import type { JsonRecord } from '../http/json.js';
import type { Piece } from '../media/piece.js';
import type { PieceFormat } from '../media/piece-file.js';

/** A track: what it sounds like, and what is written on it. */
export interface Clip {
  readonly title: string;
  readonly lyrics: string;
  readonly tags: string;
  readonly piece: Piece;
  /** What comes before an extension: the source up to where it was continued. */
  readonly before?: Piece;
}

/** The result of an operation; each operation sets the fields it produces. */
export interface Product {
  /** Tracks that later operations can work on. */
  readonly clips?: readonly Clip[];
  readonly files?: readonly { readonly clip: Clip; readonly format: PieceFormat }[];
  /** Music videos of these tracks, in this size. */
  readonly video?: { readonly clip: Clip; readonly width: number; readonly height: number };
  /** Vocals and accompaniment of a track as one ZIP. */
  readonly archive?: Clip;
  /** Everything that is no file, under its name on the wire. */
  readonly plain?: JsonRecord;
}

/** What operations need from outside. */
export interface SongMaker {
  /** How many versions of a new track are made. */
  readonly variants: number;
  /** A track that was made before. Throws 400 when there is none of this id. */
  clip(id: string): Promise<Clip>;
  /** Throws 400 unless this operation made something of this id before. */
  demand(operation: string, id: string, field: string): Promise<void>;
  /** A recording behind a URL. */
  imported(url: string): Promise<Clip>;
  /** An id that {@link demand} will know once the job exists. */
  readonly newId: string;
}

/** Makes what was asked for, or throws 400. */
export type SongOperation<Fields> = (fields: Fields, desk: SongMaker) => Product | Promise<Product>;
