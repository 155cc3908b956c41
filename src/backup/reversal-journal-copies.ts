import { join } from 'node:path';
import type { ArchiveWriter } from './archive-writer.js';
import { OWED } from './backup-parts.js';
import { filesBelow } from './files-below.js';

const SUFFIX = '.jsonl';

/**
 * Adds the reversal journal to an archive. Each call of `add` adds its current state, because gateways continue to add and drop
 * lines. A reversal that is in the archive twice, or was made before, changes nothing when it is repeated.
 */
export class ReversalJournalCopies {
  private readonly folder: string;
  private looks = 0;
  private copiedAny = false;

  constructor(
    dataDir: string,
    private readonly writer: ArchiveWriter,
  ) {
    this.folder = join(dataDir, OWED);
  }

  get hasAny(): boolean {
    return this.copiedAny;
  }

  /** Adds the files of the journal. A file that disappeared may have been renamed, so the folder is read again. */
  async add(): Promise<void> {
    this.looks += 1;
    const added = new Set<string>();
    for (let isComplete = false; !isComplete;) {
      isComplete = true;
      for await (const { name } of filesBelow(this.folder)) {
        if (added.has(name) || !name.endsWith(SUFFIX)) continue;
        if (await this.addFile(name)) added.add(name);
        else isComplete = false;
      }
    }
  }

  /** The name of the copy still begins with the id of the process. */
  private addFile(name: string): Promise<boolean> {
    if (!this.copiedAny) this.writer.addFolder(OWED);
    this.copiedAny = true;
    const copy = `${name.slice(0, -SUFFIX.length)}.${this.looks}${SUFFIX}`;
    return this.writer.addFile(`${OWED}/${copy}`, join(this.folder, name));
  }
}
