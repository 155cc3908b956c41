import type { Readable } from 'node:stream';
import type { ByteRange } from '../../common/http/answers/byte-range.js';

/** What is written and how. */
export interface FileWriting {
  /** Its end is the end of the file. Its error makes the writing fail. */
  readonly body: AsyncIterable<Buffer>;
  readonly contentType: string;
  /** Aborts the writing. */
  readonly signal: AbortSignal;
}

/** How many files clients may read at once. Each holds a connection or a descriptor for as long as its client takes. */
export interface ReaderLimits {
  readonly total: number;
  readonly perAccount: number;
}

/**
 * Where the bytes of stored files are. A key is `<account>/<file>`, made of UUIDs, so it is safe in a path. Its content
 * never changes.
 */
export interface FileStore {
  /** The store keeps room for the gateway's own work beside so many readers. */
  readonly readers: ReaderLimits;
  /** Called once before every other method. Throws when files cannot be kept in this place. */
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
