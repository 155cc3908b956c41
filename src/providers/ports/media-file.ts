/** A recording on local disk, which is sent to a provider unchanged. */
export interface MediaFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Name and media type that the provider sees, such as `audio.mp3` and `audio/mpeg`. */
  readonly filename: string;
  readonly contentType: string;
}
