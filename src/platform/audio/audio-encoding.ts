import type { SoundFormat } from '../../common/audio/sound-writer.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { ThreadError } from '../fairness/worker-thread.js';
import { WorkerThreadPool } from '../fairness/worker-thread-pool.js';

/** Raw audio to encode. */
export interface EncodingRequest {
  /** Signed 16-bit little-endian samples of one channel. */
  readonly samples: Uint8Array;
  /** Samples per second. For Opus also those of the format. */
  readonly sampleRate: number;
  readonly format: SoundFormat;
}

/** The path is right from `src` and from `dist`, which are beside each other. */
const THREAD_FILE = new URL(
  '../../../dist/platform/audio/audio-encoding.thread.js',
  import.meta.url,
);
const RETRY_AFTER_SECONDS = 5;
/** Ten minutes of speech take about ten seconds. */
const LIMITS = {
  heapMb: 256,
  threads: 2,
  threadsPerBucket: 1,
  waiting: 200,
  waitingPerBucket: 50,
  cpuMs: 60_000,
  timeoutMs: 120_000,
} as const;

/** No thread runs before the first request. */
const pool = new WorkerThreadPool<EncodingRequest, Uint8Array>({
  file: THREAD_FILE,
  rejects: 'new',
  ...LIMITS,
});

/**
 * The samples as a file, encoded in a thread. Threads are shared fairly between buckets. Throws `service_unavailable` when too
 * many requests wait, or the thread gets too little of the CPU.
 */
export async function encodeAudio(bucket: string, request: EncodingRequest): Promise<Buffer> {
  try {
    return Buffer.from(await pool.run(bucket, request));
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    throw new GatewayError('service_unavailable', 'Too much audio is being encoded.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
}
