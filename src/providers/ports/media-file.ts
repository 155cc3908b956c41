/** A recording on local disk, to be sent to a provider as it is. */
export interface MediaFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Name and media type the provider sees, like `audio.mp3` and `audio/mpeg`. */
  readonly filename: string;
  readonly contentType: string;
}
