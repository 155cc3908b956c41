import { DeleteObjectCommand, GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { addAbortSignal, Readable } from 'node:stream';
import type { ByteRange } from '../common/http/answers/byte-range.js';
import type { FileStore, FileWriting, ReaderLimits } from './file-store.port.js';
import { type S3Object, S3Upload } from './s3-upload.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than a slow reader may pause, because its connection to S3 pauses with it. */
const IDLE_TIMEOUT_MS = 120_000;
const TRIES = 3;
/** Connections for readers. Four accounts have to use their whole share before another one has none. */
const READERS: ReaderLimits = { total: 512, perAccount: 128 };
/** Connections for the gateway's own work, which never waits for readers. */
const OWN_CONNECTIONS = 128;

/** The bucket, and how to reach it. */
export interface S3Place {
  readonly bucket: string;
  /** Prefix of every key, without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** Undefined: Amazon's endpoint of the region. */
  readonly endpoint: string | undefined;
  /** Undefined: as in the AWS configuration files. */
  readonly region: string | undefined;
}

/**
 * Files in an S3-compatible bucket, with the credentials of the standard AWS variables and files. An object appears
 * when its upload is complete. If a process dies during an upload, its parts stay until the bucket's lifecycle rule
 * aborts it (docs/storage.md).
 */
export class S3FileStore implements FileStore {
  readonly readers = READERS;
  private readonly client: S3Client;

  constructor(private readonly place: S3Place) {
    const { endpoint, region } = place;
    const agent = { maxSockets: READERS.total + OWN_CONNECTIONS, keepAlive: true };
    this.client = new S3Client({
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(region !== undefined && { region }),
      maxAttempts: TRIES,
      // Some compatible servers do not support trailing checksums, which are Amazon's default.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
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
    // The upload learns of the error, unless it has ended before.
    source.on('error', () => undefined);
    addAbortSignal(signal, source);
    try {
      await new S3Upload(this.client, this.object(key), contentType, signal).run(source);
    } finally {
      source.destroy();
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const { Body } = await this.client.send(
      new GetObjectCommand({
        ...this.object(key),
        ...(range && { Range: `bytes=${range.first}-${range.last}` }),
      }),
    );
    if (!(Body instanceof Readable)) throw new Error('S3 answered without a body');
    // The reader learns of the error. Before there is one, an error ends nothing else.
    return Body.on('error', () => undefined);
  }

  async remove(key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand(this.object(key)));
  }

  close(): void {
    this.client.destroy();
  }

  private object(key: string): S3Object {
    const { bucket, prefix } = this.place;
    return { Bucket: bucket, Key: prefix === '' ? key : `${prefix}/${key}` };
  }
}
