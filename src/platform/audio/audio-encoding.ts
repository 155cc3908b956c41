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
/** Ten minutes of speech take about ten seconds. */
const LIMITS = {
  heapMb: 256,
  threads: 2,
  threadsPerBucket: 1,
  // Calls whose audio the vendor is making count too.
  waiting: 400,
  waitingPerBucket: 100,
  cpuMs: 60_000,
  timeoutMs: 120_000,
} as const;

/** No thread runs before the first request. */
const pool = new WorkerThreadPool<EncodingRequest, Uint8Array>({
  file: THREAD_FILE,
  rejects: 'new',
  ...LIMITS,
});

/** Too much waits to be encoded, or will once it is made. Thrown before it is made, so that nobody pays for what cannot be encoded. */
export class NoEncodingRoom extends Error {}

/** Room to encode audio that is not made yet. It is given back by disposing of it, on every path. */
export interface EncodingRoom extends Disposable {
  /**
   * The samples as a file, encoded in a thread. Once only. Throws `service_unavailable`, which tells clients not to retry, when the
   * thread gets too little of the CPU: the audio was made, and would be made again.
   */
  encode(request: EncodingRequest): Promise<Buffer>;
}

/** Room to encode in one of the threads, which are shared fairly between buckets. Throws {@link NoEncodingRoom} when too many have some. */
export function roomToEncode(bucket: string): EncodingRoom {
  try {
    const place = pool.reserve(bucket);
    return {
      encode: (request) => encoded(place.run(request)),
      [Symbol.dispose]: () => {
        place[Symbol.dispose]();
      },
    };
  } catch (error) {
    throw error instanceof ThreadError
      ? new NoEncodingRoom('too much audio is being encoded', { cause: error })
      : error;
  }
}

async function encoded(file: Promise<Uint8Array>): Promise<Buffer> {
  try {
    return Buffer.from(await file);
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    throw new GatewayError('service_unavailable', 'Too much audio is being encoded.', {
      shouldRetry: false,
      cause: error,
    });
  }
}
