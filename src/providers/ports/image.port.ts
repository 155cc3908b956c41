import type { AttemptContext } from './attempt.js';

/** An image to generate. */
export interface ImageCommand {
  readonly prompt: string;
  /** `<width>x<height>`; if absent, the provider decides. */
  readonly size?: string | undefined;
}

/** One image: its bytes in base64, or a URL from which the caller fetches it. */
export interface ImageResult {
  readonly image: { readonly base64: string } | { readonly url: string };
  readonly providerRequestId: string | null;
}

/** Image generation (API: POST /v1/images/generations). */
export interface ImagePort {
  generateImage(command: ImageCommand, context: AttemptContext): Promise<ImageResult>;
}
