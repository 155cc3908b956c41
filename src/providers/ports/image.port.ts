import type { AttemptContext } from './attempt.js';
import type { MediaFile } from './audio.port.js';

/** How images are wanted. The provider decides absent fields. */
export interface ImageWishes {
  readonly prompt: string;
  /** `<width>x<height>`. */
  readonly size?: string | undefined;
  /** How many images; 1 by default. */
  readonly count?: number | undefined;
  /** A word of the catalog row, such as `high`. */
  readonly quality?: string | undefined;
  /** A word of the catalog row, such as `transparent`. */
  readonly background?: string | undefined;
  /** `png`, `jpeg` or `webp`. */
  readonly outputFormat?: string | undefined;
  /** Of JPEG and WebP, 0 to 100. */
  readonly outputCompression?: number | undefined;
}

/** Images to generate. */
export type ImageCommand = ImageWishes;

/** Images to make of others. */
export interface ImageEditCommand extends ImageWishes {
  /** At least one; the first is the one that a mask belongs to. */
  readonly images: readonly MediaFile[];
  /** Where it is transparent, the first image is changed. */
  readonly mask?: MediaFile | undefined;
}

/** One image: its bytes in base64, or a URL from which the caller fetches it. */
export type ProviderImage = { readonly base64: string } | { readonly url: string };

/** What a provider made: at least one image, and at most as many as were wanted count. */
export interface ImageResult {
  readonly images: readonly ProviderImage[];
  readonly providerRequestId: string | null;
}

/** Images from a text, and from other images (API: POST /v1/images/generations, POST /v1/images/edits). */
export interface ImagePort {
  generateImage(command: ImageCommand, context: AttemptContext): Promise<ImageResult>;
  editImage(command: ImageEditCommand, context: AttemptContext): Promise<ImageResult>;
}
