/** A kind of image file. */
export interface ImageType {
  readonly extension: string;
  readonly mediaType: string;
}

/** Bytes from the beginning of a file that tell its kind. */
export const IMAGE_SIGNATURE_BYTES = 12;

/** The beginnings of files, as latin-1, by their kind. */
const SIGNATURES: readonly (readonly [signature: RegExp, type: ImageType])[] = [
  [/^\x89PNG\r\n/, { extension: 'png', mediaType: 'image/png' }],
  [/^\xff\xd8\xff/, { extension: 'jpg', mediaType: 'image/jpeg' }],
  [/^GIF8/, { extension: 'gif', mediaType: 'image/gif' }],
  [/^RIFF[^]{4}WEBP/, { extension: 'webp', mediaType: 'image/webp' }],
];

/** The kind of a PNG, JPEG, GIF or WebP file by its first bytes; undefined for anything else. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const begin = bytes.toString('latin1', 0, IMAGE_SIGNATURE_BYTES);
  return SIGNATURES.find(([signature]) => signature.test(begin))?.[1];
}
