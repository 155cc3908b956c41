import type { AttemptContext } from './attempt-context.js';

/** An image to be made. */
export interface ImageCommand {
  readonly prompt: string;
  /** `<width>x<height>`; left out, the provider frames as it likes. */
  readonly size?: string | undefined;
}

/** One image: its bytes in base64, or where the provider put them for the caller to fetch. */
export interface ImageResult {
  readonly image: { readonly base64: string } | { readonly url: string };
  readonly providerRequestId: string | null;
}

/** Image generation (spec: POST /v1/images/generations). */
export interface ImagePort {
  generateImage(command: ImageCommand, context: AttemptContext): Promise<ImageResult>;
}
