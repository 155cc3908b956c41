/** A synchronous endpoint that takes JSON and is paid for, with a request that works. */
export interface PaidEndpoint {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string };
  /** What `body` costs, micro-USD. */
  readonly price: bigint;
  /** A known model that does not run here. */
  readonly wrongModel: string;
}

/** A spoken `Hello`. */
export const HELLO = { model: 'aud-v4', input: 'Hello', voice: 'Adam' } as const;

/** Every one of them, for the rules that hold on all. */
export const PAID_AUDIO_ENDPOINTS: readonly PaidEndpoint[] = [
  { path: '/v1/audio/speech', body: HELLO, price: 600n, wrongModel: 'aud-music-v2.5' },
];
