import type { Readable } from 'node:stream';
import type { ByteRange } from '../../common/http/answers/byte-range.js';

/**
 * A file that a task has made is kept for this long, until the end of the task names it: the end makes it last as long as the
 * content that it records. So a file whose end is never recorded expires soon. Longer than a writing and the report of the end.
 */
export const UNNAMED_FILE_MS = 3_600_000;

/** A file that is kept until it expires. Its bytes never change. */
export interface StoredFile {
  /** UUID. */
  readonly id: string;
  readonly accountId: string;
  /** As its source declared it. */
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  readonly expiresAt: Date;
  /** The bytes of a range, or all. Throws GatewayError `service_unavailable` if the store does not deliver them. */
  open(range?: ByteRange): Promise<Readable>;
  /**
   * As {@link open}, for a client: until the stream is closed it takes a place of those that the account and all accounts
   * have. Throws also GatewayError `rate_limit_exceeded` (decision G-100).
   */
  download(range?: ByteRange): Promise<Readable>;
}

/** A file and the name under which its reader saves it. */
export interface NamedFile {
  readonly file: StoredFile;
  readonly filename: string;
}

/** A file to keep. */
export interface NewFile {
  readonly accountId: string;
  /** UUID of its owner, such as a task. */
  readonly ownerId: string;
  readonly contentType: string;
  /** It is read to its end, or destroyed. */
  readonly body: Readable;
  /** The largest accepted size, inclusive. */
  readonly maxBytes: number;
  /** For what a task has made: {@link UNNAMED_FILE_MS} from now. */
  readonly expiresAt: Date;
  /** The caller's signal to stop. Its reason is thrown unchanged. */
  readonly signal?: AbortSignal;
}

/** The body of a {@link NewFile} is longer than allowed. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';

  constructor(readonly maxBytes: number) {
    super(`the file is larger than ${maxBytes} bytes`);
  }
}
