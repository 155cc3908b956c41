import { mkdirSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupTarget } from './backup-target.js';
import { PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from '../common/private-files.js';

/** Writes parts of a backup into an existing folder. Stops at the next file when the signal aborts. */
export class FolderWriter implements BackupTarget {
  constructor(
    private readonly root: string,
    private readonly signal: AbortSignal,
  ) {}

  addFolder(name: string): void {
    mkdirSync(join(this.root, name), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  }

  addText(name: string, text: string): void {
    writeFileSync(join(this.root, name), text, { mode: PRIVATE_FILE_MODE });
  }

  /** A file that does not exist is not added. */
  async addFile(name: string, path: string): Promise<boolean> {
    this.signal.throwIfAborted();
    return copyFile(path, join(this.root, name)).then(
      () => true,
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return false;
      },
    );
  }
}
