import { createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { BackupError } from './backup-parts.js';
import type { BackupTarget } from './backup-target.js';
import { PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from '../common/private-files.js';

/** Readable by its owner only, because a backup contains keys and the ledger. */
/** The lowest level: database pages and log compress well with it. */
const COMPRESSION_LEVEL = 1;
const CHUNK_BYTES = 1_048_576;

/** A compressed tar archive. It gets its name only when it is complete and durable. */
export class ArchiveWriter implements BackupTarget {
  private constructor(private readonly archive: Pack) {}

  /**
   * Writes the entries that `fill` adds to a new file; returns its size in bytes. Throws {@link BackupError} if the file exists.
   * After an error or an abort, no file is left.
   */
  static async write(
    file: string,
    signal: AbortSignal,
    fill: (writer: ArchiveWriter) => Promise<void>,
  ): Promise<number> {
    await rejectExisting(file);
    const unfinished = `${file}.unfinished`;
    if (await exists(unfinished)) {
      throw new BackupError(
        `${unfinished} is what a backup that was killed left, or one that still runs writes. Remove it when none runs, or name another file.`,
      );
    }
    signal.throwIfAborted();
    const archive = pack();
    archive.on('error', ignore);
    const options = { mode: PRIVATE_FILE_MODE, flags: 'wx', flush: true };
    const gzip = createGzip({ level: COMPRESSION_LEVEL });
    const writing = pipeline(archive, gzip, createWriteStream(unfinished, options), { signal });
    const filling = fill(new ArchiveWriter(archive)).then(
      () => {
        archive.finalize();
      },
      (error: unknown) => {
        archive.destroy(error as Error);
        throw error;
      },
    );
    try {
      // The first error is the cause of the second.
      await Promise.all([filling, writing]);
      await rejectExisting(file);
      await rename(unfinished, file);
    } catch (error) {
      await Promise.allSettled([filling, writing]);
      await rm(unfinished, { force: true });
      throw signal.aborted ? signal.reason : error;
    }
    return (await stat(file)).size;
  }

  /** Adds a folder. It may be empty. */
  addFolder(name: string): void {
    this.archive.entry({ name, type: 'directory', mode: PRIVATE_FOLDER_MODE }).on('error', ignore);
  }

  /** Adds a small file. */
  addText(name: string, text: string): void {
    this.archive.entry({ name, mode: PRIVATE_FILE_MODE }, text).on('error', ignore);
  }

  /**
   * Adds a file that other processes may write, truncate or remove at the same time, with the size that it has at the start. A
   * file that does not exist or was changed after `untilMs` is not added. Returns whether the file existed.
   */
  async addFile(name: string, path: string, untilMs = Infinity): Promise<boolean> {
    const file = await open(path).catch(unlessGone);
    if (file === undefined) return false;
    try {
      const { size, mtime, mtimeMs } = await file.stat();
      if (mtimeMs > untilMs) return true;
      const entry = this.archive.entry({ name, mode: PRIVATE_FILE_MODE, size, mtime });
      await pipeline(bytesOf(file, size), entry);
      return true;
    } finally {
      await file.close();
    }
  }
}

/** Yields exactly `sizeBytes` bytes. Zeros replace a truncated part; the replay of the log restores it. */
async function* bytesOf(file: FileHandle, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < sizeBytes;) {
    const chunk = Buffer.alloc(Math.min(sizeBytes - at, CHUNK_BYTES));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    const bytes = bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead);
    at += bytes.length;
    yield bytes;
  }
}

function unlessGone(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(unlessGone)) !== undefined;
}

async function rejectExisting(path: string): Promise<void> {
  if (await exists(path)) throw new BackupError(`${path} exists already; it was left as it is.`);
}

/** The pipeline reports the first error. Later errors need a listener, too. */
const ignore = (): void => undefined;
