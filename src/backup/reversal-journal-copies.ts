import { join } from 'node:path';
import { JOURNAL_FOLDER, JOURNAL_SUFFIX } from '../billing/recovery/reversal-journal.js';
import type { ArchiveWriter } from './archive-writer.js';

import { filesBelow } from './files-below.js';

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
    this.folder = join(dataDir, JOURNAL_FOLDER);
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
        if (added.has(name) || !name.endsWith(JOURNAL_SUFFIX)) continue;
        if (await this.addFile(name)) added.add(name);
        else isComplete = false;
      }
    }
  }

  /** The name of the copy still begins with the id of the process. */
  private addFile(name: string): Promise<boolean> {
    if (!this.copiedAny) this.writer.addFolder(JOURNAL_FOLDER);
    this.copiedAny = true;
    const copy = `${name.slice(0, -JOURNAL_SUFFIX.length)}.${this.looks}${JOURNAL_SUFFIX}`;
    return this.writer.addFile(`${JOURNAL_FOLDER}/${copy}`, join(this.folder, name));
  }
}
