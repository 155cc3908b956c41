/** How long a provider may send nothing: before the head of its answer, and within the body. */
export interface UpstreamTimeout {
  readonly headMs: number;
  readonly idleMs: number;
}

const silence = (ms: number): UpstreamTimeout => ({ headMs: ms, idleMs: ms });

/** The limits for each kind of request. `UPSTREAM_TIMEOUT_MS` replaces them all. */
export const UPSTREAM_TIMEOUTS = {
  audio: silence(300_000),
  transcription: silence(1_200_000),
  composition: silence(900_000),
  image: silence(300_000),
  chat: silence(600_000),
  chatStream: { headMs: 60_000, idleMs: 120_000 },
  submit: silence(60_000),
  /** A submission whose answer is the result itself. */
  longSubmit: silence(300_000),
  poll: silence(30_000),
  download: silence(600_000),
} as const satisfies Record<string, UpstreamTimeout>;

/** A kind of request; each kind has limits of its own. */
export type UpstreamTimeoutName = keyof typeof UPSTREAM_TIMEOUTS;
