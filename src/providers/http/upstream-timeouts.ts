/** Maximum time without bytes from a provider: before the head of its response, and within the body. */
export interface UpstreamTimeout {
  readonly headMs: number;
  readonly idleMs: number;
  /** How long a JSON body may take in all. Absent where the call that waits for it has a deadline. */
  readonly bodyMs?: number;
}

const silence = (ms: number): UpstreamTimeout => ({ headMs: ms, idleMs: ms });

/**
 * The timeouts of a step of a task. Without `bodyMs`, an endless body would occupy its lane slot, and the task's hold,
 * for ever.
 */
export const stepTimeout = (ms: number): UpstreamTimeout => ({ ...silence(ms), bodyMs: 4 * ms });

/** The limits for each kind of request. `UPSTREAM_TIMEOUT_MS` replaces them all. */
export const UPSTREAM_TIMEOUTS = {
  audio: silence(300_000),
  transcription: silence(1_200_000),
  composition: silence(900_000),
  image: silence(300_000),
  embedding: silence(300_000),
  /** Streams too: models reason for minutes without sending anything. Comments and pings of a vendor count as bytes. */
  chat: silence(600_000),
  submit: stepTimeout(60_000),
  /** A submission whose response is the result itself. */
  longSubmit: stepTimeout(300_000),
  poll: stepTimeout(30_000),
  download: silence(600_000),
} as const satisfies Record<string, UpstreamTimeout>;

/** A kind of request; each kind has limits of its own. */
export type UpstreamTimeoutName = keyof typeof UPSTREAM_TIMEOUTS;
