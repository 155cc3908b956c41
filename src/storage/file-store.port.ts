import type { Readable } from 'node:stream';
import type { ByteRange } from '../common/http/byte-range.js';

/** What is written and how. */
export interface FileWriting {
  /** Its end is the end of the file, its error the failure of the writing. */
  readonly body: AsyncIterable<Buffer>;
  readonly contentType: string;
  /** Ends the writing early. */
  readonly signal: AbortSignal;
}

/**
 * Where the bytes of stored files lie. A key is `<account>/<file>`, made of UUIDs, so it is safe in a path, and it never
 * gets a second content.
 */
export interface FileStore {
  /** Called once before anything else. Throws where files cannot be kept here. */
  prepare(): Promise<void>;
  /** Resolves when the whole file is durable under its key. After an error nothing can be read under it. */
  write(key: string, writing: FileWriting): Promise<void>;
  /** The bytes of a range, or all. Rejects before the first byte where there is no such file. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** Removes a file and what is left of a writing that broke off. A missing file is no error. */
  remove(key: string): Promise<void>;
  /** Gives up idle connections. */
  close(): void;
}

/** Injection token of the {@link FileStore}. */
export const FILE_STORE = Symbol('FILE_STORE');
