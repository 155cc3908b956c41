import type { Readable } from 'node:stream';
import type { ByteRange } from '../common/http/byte-range.js';
import type { StopSignal } from '../common/stop-signal.js';

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
  readonly expiresAt: Date;
  /** The caller's signal to stop. Its reason is thrown unchanged. */
  readonly signal?: StopSignal;
}

/** The body of a {@link NewFile} is longer than allowed. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';

  constructor(readonly maxBytes: number) {
    super(`the file is larger than ${maxBytes} bytes`);
  }
}
