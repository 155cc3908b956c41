import { DeleteObjectCommand, GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { addAbortSignal, Readable } from 'node:stream';
import type { ByteRange } from '../../common/byte-range.js';
import type { FileStore, FileWriting, ReaderLimits } from './file-store.port.js';
import { type S3Object, S3Upload } from './s3-upload.js';
import { buffer } from 'node:stream/consumers';

/** Far more than the longest response of S3 about an object or a failure. */
const MAX_BYTES = 1_048_576;

/**
 * Reads responses of S3 that are not files for the AWS client, which reads them without a limit. Fails above 1 MiB, and
 * after `timeoutMs`.
 */
function responseCollector(timeoutMs: number): (response: Readable) => Promise<Buffer> {
  return (response) => buffer(bounded(addAbortSignal(AbortSignal.timeout(timeoutMs), response)));
}

async function* bounded(response: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`S3 answered with more than ${MAX_BYTES} bytes`);
    yield chunk;
  }
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than a slow client may pause, because its connection to S3 pauses with it. */
const IDLE_TIMEOUT_MS = 120_000;
/** Maximum times until the head of a response; each attempt starts anew. */
const LIMITS: S3Limits = { responseMs: 10_000, uploadMs: 120_000 };
const TRIES = 3;
/** Connections for downloads. Only if four accounts use their whole share, another one gets none. */
const READERS: ReaderLimits = { total: 512, perAccount: 128 };
/** Connections for the gateway's own work, which never waits for downloads. */
const OWN_CONNECTIONS = 128;

/** The bucket, and how to reach it. */
export interface S3Location {
  readonly bucket: string;
  /** Prefix of every key, without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** Undefined: Amazon's endpoint of the region. */
  readonly endpoint: string | undefined;
  /** Undefined: as in the AWS configuration files. */
  readonly region: string | undefined;
}

/** Maximum milliseconds until S3 responds. */
export interface S3Limits {
  /** For the head of the response to a read or a removal. */
  readonly responseMs: number;
  /**
   * For the head of the response to an upload, including the sending of a part; and for the body of every response that
   * is not a file.
   */
  readonly uploadMs: number;
}

/**
 * Files in an S3-compatible bucket, with the credentials of the standard AWS variables and files. An object appears
 * when its upload is complete. If a process dies during an upload, its parts stay until the bucket's lifecycle rule
 * aborts it (docs/operate/storage.md).
 */
export class S3FileStore implements FileStore {
  readonly readers = READERS;
  readonly mayFinishLate = true;
  private readonly client: S3Client;

  /** `limits`: set by tests. */
  constructor(
    private readonly location: S3Location,
    private readonly limits = LIMITS,
  ) {
    const { endpoint, region } = location;
    const agent = { maxSockets: READERS.total + OWN_CONNECTIONS, keepAlive: true };
    this.client = new S3Client({
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(region !== undefined && { region }),
      maxAttempts: TRIES,
      // Some compatible servers do not support trailing checksums, which are Amazon's default.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // Some compatible servers never respond to it. It also opens a new connection for each part, outside the agent's
      // pool.
      expectContinueHeader: false,
      streamCollector: responseCollector(limits.uploadMs),
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        requestTimeout: limits.uploadMs,
        throwOnRequestTimeout: true,
        socketTimeout: IDLE_TIMEOUT_MS,
        httpAgent: agent,
        httpsAgent: agent,
      },
    });
  }

  /** Does nothing: the gateway starts even if S3 cannot be reached. Calls that need it fail until it is back. */
  async prepare(): Promise<void> {
    // A bucket needs no preparation.
  }

  async write(key: string, { body, contentType, signal }: FileWriting): Promise<void> {
    const source = Readable.from(body);
    // The upload gets the error, unless it has ended before.
    source.on('error', () => undefined);
    addAbortSignal(signal, source);
    try {
      await new S3Upload(this.client, this.object(key), contentType, signal).run(source);
    } finally {
      source.destroy();
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const { Body, ContentRange } = await this.client.send(
      new GetObjectCommand({
        ...this.object(key),
        ...(range && { Range: `bytes=${range.first}-${range.last}` }),
      }),
      { requestTimeout: this.limits.responseMs },
    );
    if (!(Body instanceof Readable)) throw new Error('S3 answered without a body');
    if (range && !ContentRange?.startsWith(`bytes ${range.first}-${range.last}/`)) {
      Body.on('error', () => undefined).destroy();
      throw new Error('S3 answered with another range');
    }
    // The code that reads the stream gets the error. Until it starts reading, this listener prevents an uncaught error.
    return Body.on('error', () => undefined);
  }

  async remove(key: string): Promise<void> {
    const { responseMs: requestTimeout } = this.limits;
    await this.client.send(new DeleteObjectCommand(this.object(key)), { requestTimeout });
  }

  close(): void {
    this.client.destroy();
  }

  private object(key: string): S3Object {
    const { bucket, prefix } = this.location;
    return { Bucket: bucket, Key: prefix === '' ? key : `${prefix}/${key}` };
  }
}
