import type { Readable } from 'node:stream';

/** Encodings of `response_format` (API: Output formats). */
export type AudioFormat = 'mp3' | 'opus' | 'pcm' | 'wav';

/** Audio that the provider is generating. Its first bytes have arrived, and they fit the requested format. */
export interface ProviderAudio {
  /**
   * Audio bytes as they arrive. Fails with a `ProviderError` if the provider disconnects early. Destroying it closes
   * the upstream connection.
   */
  readonly body: Readable;
  readonly providerRequestId: string | null;
}
