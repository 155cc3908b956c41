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
  readonly #folder: string;
  #looks = 0;
  #hasAny = false;

  constructor(
    dataDir: string,
    private readonly writer: ArchiveWriter,
  ) {
    this.#folder = join(dataDir, OWED);
  }

  get hasAny(): boolean {
    return this.#hasAny;
  }

  /** Adds the files of the journal. A file that disappeared may have been renamed, so the folder is read again. */
  async add(): Promise<void> {
    this.#looks += 1;
    const added = new Set<string>();
    for (let isComplete = false; !isComplete;) {
      isComplete = true;
      for await (const { name } of filesBelow(this.#folder)) {
        if (added.has(name) || !name.endsWith(SUFFIX)) continue;
        if (await this.#addFile(name)) added.add(name);
        else isComplete = false;
      }
    }
  }

  /** The name of the copy still begins with the id of the process. */
  #addFile(name: string): Promise<boolean> {
    if (!this.#hasAny) this.writer.addFolder(OWED);
    this.#hasAny = true;
    const copy = `${name.slice(0, -SUFFIX.length)}.${this.#looks}${SUFFIX}`;
    return this.writer.addFile(`${OWED}/${copy}`, join(this.#folder, name));
  }
}
