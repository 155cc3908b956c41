import { randomUUID } from 'node:crypto';
import {
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../common/json-object.js';
import type { Reversal } from './reversal.js';
import { PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from '../../common/private-files.js';

/** Its folder in the data folder. */
export const JOURNAL_FOLDER = 'owed';
/** How the names of its files end. */
export const JOURNAL_SUFFIX = '.jsonl';
/** Suffix of a file with lines that cannot be processed. */
const ASIDE = '.unreadable';

/** A line to write. Without text: a request to drop all lines before it. */
interface Line {
  readonly text: string | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The content of a journal file. */
export interface ReversalLines {
  readonly reversals: readonly Reversal[];
  /** Lines that are no reversal, such as one cut by a full disk. */
  readonly unreadable: readonly string[];
}

/** A journal file and the process that wrote it. */
export interface ReversalFile {
  readonly name: string;
  readonly processId: string;
}

/** Every reversal in the journals of a data folder, of living processes too; such a one may have been made. */
export async function reversalsOnDisk(dataDir: string): Promise<Reversal[]> {
  const journal = new ReversalJournal(dataDir, 'nobody');
  const files = await journal.files();
  const read = ({ name }: ReversalFile) =>
    journal.read(name).catch((error: unknown) => {
      // Made, or taken over by a process, which has it under another name at the next look.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return { reversals: [] };
    });
  return (await Promise.all(files.map(read))).flatMap(({ reversals }) => reversals);
}

/**
 * A write-ahead file of the reversals that one process still has to make. A reversal is on disk before the caller gets its
 * error: `owed/<process id>.jsonl` in the data directory, one call or task per line. Lines that arrive together share one
 * flush. A process that works on a dead one's file first renames it to `<own process id>.<random>.jsonl`: if the other is
 * alive after all, it then writes to a new file.
 */
export class ReversalJournal {
  private readonly folder: string;
  private readonly waiting: Line[] = [];
  private file: FileHandle | undefined;
  private writing: Promise<void> | undefined;

  constructor(
    dataDir: string,
    private readonly processId: string,
  ) {
    this.folder = join(dataDir, JOURNAL_FOLDER);
  }

  /** Resolves once the line is on disk; rejects with the file system's error. */
  write(reversal: Reversal): Promise<void> {
    return this.enqueue(lineOf(reversal));
  }

  /** Drops the lines that were written before this call. Call it when all their reversals are made. */
  clear(): Promise<void> {
    return this.enqueue(undefined);
  }

  /** Closes the file and, if all its reversals are made, removes it. */
  async close(isDone: boolean): Promise<void> {
    await this.writing;
    await this.file?.close();
    this.file = undefined;
    if (isDone) await this.forget(this.ownName);
  }

  /** Files of other processes, and those that this one has taken over. */
  async files(): Promise<ReversalFile[]> {
    const names = await readdir(this.folder).catch(() => []);
    return names
      .filter((name) => name.endsWith(JOURNAL_SUFFIX) && name !== this.ownName)
      .map((name) => ({ name, processId: name.slice(0, name.indexOf('.')) }));
  }

  /** Renames the file for this process; returns its new name, or undefined when another process was faster. */
  async takeOver({ name, processId }: ReversalFile): Promise<string | undefined> {
    if (processId === this.processId) return name;
    const taken = `${this.processId}.${randomUUID()}${JOURNAL_SUFFIX}`;
    try {
      await rename(this.pathOf(name), this.pathOf(taken));
      return taken;
    } catch {
      return undefined;
    }
  }

  /** The lines of a file that was taken over. */
  async read(name: string): Promise<ReversalLines> {
    const text = await readFile(this.pathOf(name), 'utf8');
    const lines = text.split('\n').filter((line) => line !== '');
    return {
      reversals: lines.flatMap((line) => reversalIn(line) ?? []),
      unreadable: lines.filter((line) => reversalIn(line) === undefined),
    };
  }

  /** Adds a reversal of this process to its file for the operator, before it may be forgotten. Returns the path of the file. */
  async addAside(reversal: Reversal): Promise<string> {
    const name = `${this.ownName}${ASIDE}`;
    const file = await this.openDurably(name);
    try {
      await file.appendFile(lineOf(reversal));
      await file.datasync();
    } finally {
      await file.close();
    }
    return this.pathOf(name);
  }

  /** Writes lines to a file for the operator, replacing an earlier one; returns its path. */
  async putAside(name: string, lines: readonly string[]): Promise<string> {
    const path = this.pathOf(`${name}${ASIDE}`);
    await writeFile(path, lines.map((line) => `${line}\n`).join(''), {
      mode: PRIVATE_FILE_MODE,
      flush: true,
    });
    return path;
  }

  /** Replaces a file that was taken over by one with the remaining reversals, if there are any. */
  async keep(name: string, reversals: readonly Reversal[]): Promise<void> {
    if (reversals.length > 0) {
      // A crash after this line leaves both files. A repeated reversal changes nothing.
      const path = this.pathOf(`${this.processId}.${randomUUID()}${JOURNAL_SUFFIX}`);
      await writeFile(path, reversals.map(lineOf).join(''), {
        mode: PRIVATE_FILE_MODE,
        flush: true,
      });
    }
    await this.forget(name);
  }

  /** Removes a file whose reversals are all made. */
  async forget(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  private get ownName(): string {
    return `${this.processId}${JOURNAL_SUFFIX}`;
  }

  private pathOf(name: string): string {
    return join(this.folder, name);
  }

  private enqueue(text: string | undefined): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.waiting.push({ text, resolve, reject });
    });
    this.writing ??= this.writeAll();
    return done;
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const lines = this.waiting.splice(0);
      try {
        const cleared = lines.findLastIndex((line) => line.text === undefined);
        if (cleared >= 0) await this.file?.truncate(0);
        const rest = lines.slice(cleared + 1);
        if (rest.length > 0) await this.writeSafely(rest.map((line) => line.text).join(''));
        for (const line of lines) line.resolve();
      } catch (error) {
        for (const line of lines) line.reject(error);
      }
    }
    // No await since the last check of the queue, so that the next caller starts a new writer.
    this.writing = undefined;
  }

  private async writeSafely(text: string): Promise<void> {
    if (await this.append(text)) return;
    // Another process considered this one dead and renamed the file. It may have read the file before this text was in it.
    await this.file?.close();
    this.file = undefined;
    if (!(await this.append(text))) throw new Error('the new file was taken over as well');
  }

  /**
   * Appends the text durably. Returns whether the file still belongs to this process; a process that takes it over later
   * reads the text.
   */
  private async append(text: string): Promise<boolean> {
    this.file ??= await this.openDurably(this.ownName);
    await this.file.appendFile(text);
    await this.file.datasync();
    const [own, named] = await Promise.all([
      this.file.stat(),
      stat(this.pathOf(this.ownName)).catch(() => undefined),
    ]);
    return named?.ino === own.ino;
  }

  private async openDurably(name: string): Promise<FileHandle> {
    await mkdir(this.folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    const file = await open(this.pathOf(name), 'a', PRIVATE_FILE_MODE);
    const folder = await open(this.folder, 'r');
    // A new file is durable once its folder is synced.
    await folder.sync().finally(() => folder.close());
    return file;
  }
}

/** The leading newline separates the line from one before it that a full disk has cut. */
function lineOf(reversal: Reversal): string {
  return `\n${JSON.stringify(reversal)}\n`;
}

function reversalIn(line: string): Reversal | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value)) return undefined;
    const id = value.executionId ?? value.taskId;
    return typeof id === 'string' ? (value as unknown as Reversal) : undefined;
  } catch {
    return undefined;
  }
}
