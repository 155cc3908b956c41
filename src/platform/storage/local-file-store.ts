import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ByteRange } from '../../common/byte-range.js';
import { FileReader } from './file-reader.js';
import type { FileStore, FileWriting, ReaderLimits } from './file-store.port.js';
import { PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from '../../common/private-files.js';

/** Descriptors for downloads. Only if four accounts use their whole share, another one gets none. */
const READERS: ReaderLimits = { total: 4_096, perAccount: 1_024 };
/** Name of a file while it is written. */
const PART = '.part';

/** Files in a local directory, or in a volume that several gateways share. */
export class LocalFileStore implements FileStore {
  readonly readers = READERS;
  readonly mayFinishLate = false;

  /** `root`: absolute path of the directory. */
  constructor(private readonly root: string) {}

  async prepare(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  }

  /** Writes under a temporary name, makes the bytes durable, then renames the file and makes its new name durable. */
  async write(key: string, { body, signal }: FileWriting): Promise<void> {
    const path = join(this.root, key);
    const folder = dirname(path);
    const created = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    if (created !== undefined) await syncFolder(this.root);
    try {
      const file = await open(path + PART, 'wx', PRIVATE_FILE_MODE);
      await pipeline(body, file.createWriteStream({ flush: true }), { signal });
      await rename(path + PART, path);
      await syncFolder(folder);
    } catch (error) {
      await this.remove(key);
      throw error;
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const bytes = new FileReader(await open(join(this.root, key), 'r'), range);
    // The code that reads the stream gets the error. Until it starts reading, this listener prevents an uncaught error.
    return bytes.on('error', () => undefined);
  }

  async remove(key: string): Promise<void> {
    const path = join(this.root, key);
    await Promise.all([rm(path, { force: true }), rm(path + PART, { force: true })]);
  }

  close(): void {
    // Each file is closed by the function that opened it.
  }
}

/** A name is durable once its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
