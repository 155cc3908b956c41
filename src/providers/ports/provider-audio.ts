import type { Readable } from 'node:stream';

/**
 * Encodings of the spec's `response_format` (spec: Shared rules for synchronous audio endpoints).
 */
export type AudioFormat = 'mp3' | 'opus' | 'pcm' | 'wav';

/** Audio as the provider makes it. Its first bytes have arrived and fit the requested format. */
export interface ProviderAudio {
  /**
   * Audio bytes as they come. Errors with a `ProviderError` when the provider breaks off;
   * destroying it closes the upstream connection.
   */
  readonly body: Readable;
  readonly providerRequestId: string | null;
}
