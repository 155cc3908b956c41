import type { Readable } from 'node:stream';
import type { ByteRange } from '../../common/byte-range.js';

/** The content of a new file, and the signal that aborts its writing. */
export interface FileWriting {
  /** The content. Its end is the end of the file; its error makes the writing fail. */
  readonly body: AsyncIterable<Buffer>;
  readonly contentType: string;
  /** Aborts the writing. */
  readonly signal: AbortSignal;
}

/** Limits of concurrent downloads. Each holds a connection or a descriptor for as long as its client reads. */
export interface ReaderLimits {
  readonly total: number;
  readonly perAccount: number;
}

/**
 * Where the bytes of stored files are. A key is `<account>/<file>`, made of UUIDs, so it is safe in a path. Its content
 * never changes.
 */
export interface FileStore {
  /** Limits of downloads. The store has further connections or descriptors for the gateway's own work. */
  readonly readers: ReaderLimits;
  /** A file may still appear after its writing was broken off. */
  readonly mayFinishLate: boolean;
  /** Called once before every other method. Throws if files cannot be stored here. */
  prepare(): Promise<void>;
  /** Resolves when the whole file is durable under its key. After an error the caller removes what may be there. */
  write(key: string, writing: FileWriting): Promise<void>;
  /** The bytes of a range, or all. Rejects before the first byte if there is no such file. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** Removes a file and the rest of an unfinished writing. A missing file is no error. */
  remove(key: string): Promise<void>;
  /** Closes idle connections. */
  close(): void;
}

/** Injection token of the {@link FileStore}. */
export const FILE_STORE = Symbol('FILE_STORE');
