import type { JsonRecord } from '../http/json.js';
import type { Piece } from '../media/sound/piece.js';
import type { PieceFormat } from '../media/audio-files/piece-file.js';

/** A track: its sound and its texts. */
export interface Clip {
  readonly title: string;
  readonly lyrics: string;
  readonly tags: string;
  readonly piece: Piece;
  /** The part before an extension: the source up to the second at which it was continued. */
  readonly before?: Piece;
}

/** The product of an operation. Each operation sets the fields that it makes. */
export interface Product {
  /** Tracks that later operations may name as their source. */
  readonly clips?: readonly Clip[];
  readonly files?: readonly { readonly clip: Clip; readonly format: PieceFormat }[];
  /** Music videos of these tracks, in this size. */
  readonly video?: { readonly clip: Clip; readonly width: number; readonly height: number };
  /** Vocals and accompaniment of a track, in one ZIP archive. */
  readonly archive?: Clip;
  /** Everything that is not a file, under its name on the wire. */
  readonly plain?: JsonRecord;
}

/** What operations need besides their fields. */
export interface SongMaker {
  /** The number of new tracks that one operation makes. */
  readonly variants: number;
  /** The earlier track of this id. Throws 400 when there is none. */
  clip(id: string): Clip;
  /** Throws 400 unless this operation made something with this id earlier. */
  demand(operation: string, id: string, field: string): void;
  /** The recording that a URL stands for. */
  imported(url: string): Promise<Clip>;
  /** A new id. {@link demand} accepts it once the job exists. */
  readonly newId: string;
}

/** Makes the product, or throws 400. */
export type SongOperation<Fields> = (fields: Fields, desk: SongMaker) => Product | Promise<Product>;
