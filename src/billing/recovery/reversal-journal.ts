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

const FOLDER = 'owed';
const SUFFIX = '.jsonl';
/** Ends the name of a file with lines that nobody can act on. */
const ASIDE = '.unreadable';

/** A line to write; without text, the request to drop all lines before it. */
interface Line {
  readonly text: string | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What a file of the journal says. */
export interface ReversalLines {
  readonly owed: readonly Reversal[];
  /** Lines that are not what a process owes, such as one that was torn by a full disk. */
  readonly unreadable: readonly string[];
}

/** A file of the journal, and its process. */
export interface ReversalFile {
  readonly name: string;
  readonly processId: string;
}

/**
 * What one process owes, on disk before its caller gets an error: a file `owed/<process id>.jsonl` of the data
 * directory, with one call or task per line. Lines that arrive together share one flush. A process that cancels for a
 * dead one first renames its file to `<own process id>.<random>.jsonl`: the other may be alive after all, and then
 * writes to a new file.
 */
export class ReversalJournal {
  readonly #folder: string;
  readonly #waiting: Line[] = [];
  #file: FileHandle | undefined;
  #writing: Promise<void> | undefined;

  constructor(
    dataDir: string,
    private readonly processId: string,
  ) {
    this.#folder = join(dataDir, FOLDER);
  }

  /** Resolves once the line is on disk; rejects with the file system's error. */
  write(owed: Reversal): Promise<void> {
    return this.#ask(lineOf(owed));
  }

  /** Drops the lines that were written before this call. Call it when all of them are cancelled. */
  clear(): Promise<void> {
    return this.#ask(undefined);
  }

  /** Closes the file and, when nothing is owed, removes it. */
  async close(isPaid: boolean): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    if (isPaid) await this.forget(this.#ownName);
  }

  /** Files of other processes, and those that this one has taken over. */
  async files(): Promise<ReversalFile[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names
      .filter((name) => name.endsWith(SUFFIX) && name !== this.#ownName)
      .map((name) => ({ name, processId: name.slice(0, name.indexOf('.')) }));
  }

  /** Renames the file for this process; returns its new name, or undefined when another process was faster. */
  async takeOver({ name, processId }: ReversalFile): Promise<string | undefined> {
    if (processId === this.processId) return name;
    const taken = `${this.processId}.${randomUUID()}${SUFFIX}`;
    try {
      await rename(this.#pathOf(name), this.#pathOf(taken));
      return taken;
    } catch {
      return undefined;
    }
  }

  /** The lines of a file that was taken over. */
  async read(name: string): Promise<ReversalLines> {
    const text = await readFile(this.#pathOf(name), 'utf8');
    const lines = text.split('\n').filter((line) => line !== '');
    return {
      owed: lines.flatMap((line) => owedOf(line) ?? []),
      unreadable: lines.filter((line) => owedOf(line) === undefined),
    };
  }

  /** Keeps lines of a file for the operator; returns the path. Written again, they replace the former ones. */
  async putAside(name: string, lines: readonly string[]): Promise<string> {
    const path = this.#pathOf(`${name}${ASIDE}`);
    await writeFile(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600, flush: true });
    return path;
  }

  /** Replaces a file that was taken over by one with the lines that are still owed, if any are. */
  async keep(name: string, owed: readonly Reversal[]): Promise<void> {
    if (owed.length > 0) {
      // A crash after it leaves both files. Cancelling twice changes nothing.
      const path = this.#pathOf(`${this.processId}.${randomUUID()}${SUFFIX}`);
      await writeFile(path, owed.map(lineOf).join(''), { mode: 0o600, flush: true });
    }
    await this.forget(name);
  }

  /** Removes a file whose lines are all cancelled. */
  async forget(name: string): Promise<void> {
    await rm(this.#pathOf(name), { force: true });
  }

  get #ownName(): string {
    return `${this.processId}${SUFFIX}`;
  }

  #pathOf(name: string): string {
    return join(this.#folder, name);
  }

  #ask(text: string | undefined): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
    });
    this.#writing ??= this.#writeAll();
    return done;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0);
      try {
        const cleared = lines.findLastIndex((line) => line.text === undefined);
        if (cleared >= 0) await this.#file?.truncate(0);
        const rest = lines.slice(cleared + 1);
        if (rest.length > 0) await this.#writeSafely(rest.map((line) => line.text).join(''));
        for (const line of lines) line.resolve();
      } catch (error) {
        for (const line of lines) line.reject(error);
      }
    }
    // In the same turn as the last look at the queue, so that the next caller starts a writer of its own.
    this.#writing = undefined;
  }

  async #writeSafely(text: string): Promise<void> {
    if (await this.#append(text)) return;
    // Another process took this one for dead and renamed the file, and may have read it before the text was in it.
    await this.#file?.close();
    this.#file = undefined;
    if (!(await this.#append(text))) throw new Error('the new file was taken over as well');
  }

  /**
   * Whether the file that holds the text still belongs to this process. A process that takes it over later reads the
   * text.
   */
  async #append(text: string): Promise<boolean> {
    this.#file ??= await this.#create();
    await this.#file.appendFile(text);
    await this.#file.datasync();
    const [own, named] = await Promise.all([
      this.#file.stat(),
      stat(this.#pathOf(this.#ownName)).catch(() => undefined),
    ]);
    return named?.ino === own.ino;
  }

  async #create(): Promise<FileHandle> {
    await mkdir(this.#folder, { recursive: true });
    const file = await open(this.#pathOf(this.#ownName), 'a', 0o600);
    const folder = await open(this.#folder, 'r');
    // A new file is durable once its folder is synced.
    await folder.sync().finally(() => folder.close());
    return file;
  }
}

/** It begins with a newline too, so that it is whole behind a line that a full disk has torn. */
function lineOf(owed: Reversal): string {
  return `\n${JSON.stringify(owed)}\n`;
}

function owedOf(line: string): Reversal | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value)) return undefined;
    const id = value.executionId ?? value.taskId;
    return typeof id === 'string' ? (value as unknown as Reversal) : undefined;
  } catch {
    return undefined;
  }
}
