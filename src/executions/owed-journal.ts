import { mkdir, open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../common/json-object.js';
import type { OwedCall } from './execution-steps.js';

const FOLDER = 'owed';
const SUFFIX = '.jsonl';

/** A line to be written, or with no text the wish to forget all lines before it. */
interface Line {
  readonly text: string | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What one process owes, on disk before its caller hears of it: a file `owed/<process id>.jsonl` of the data directory, one
 * call per line. Lines that arrive together share one flush. What a dead process owed is paid by whoever finds its file.
 */
export class OwedJournal {
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

  /** Resolves once the call is on disk; rejects with the file system's error. */
  write(owed: OwedCall): Promise<void> {
    return this.#ask(`${JSON.stringify(owed)}\n`);
  }

  /** Forgets what was written before this call; call it when all of it is paid. */
  clear(): Promise<void> {
    return this.#ask(undefined);
  }

  /** Closes the file and, when nothing is owed, removes it. */
  async close(isPaid: boolean): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    if (isPaid) await this.forget(this.processId);
  }

  /** Processes that left a file, this one excepted. */
  async others(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter((id) => id !== this.processId);
  }

  /** What a process owed. Its last line may be cut: nobody was told of that call. */
  async read(processId: string): Promise<OwedCall[]> {
    const text = await readFile(this.#pathOf(processId), 'utf8').catch(() => '');
    const whole = text.split('\n').slice(0, -1);
    return whole.flatMap((line) => owedCallOf(line) ?? []);
  }

  /** Removes the file of a process whose calls are paid. */
  async forget(processId: string): Promise<void> {
    await rm(this.#pathOf(processId), { force: true });
  }

  #pathOf(processId: string): string {
    return join(this.#folder, `${processId}${SUFFIX}`);
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
    // In the same turn as the last look at the queue: whoever asks next starts a writer of its own.
    this.#writing = undefined;
  }

  async #writeSafely(text: string): Promise<void> {
    if (await this.#append(text)) return;
    // Another process took this one for dead and removed the file: what is only in there is lost with this process.
    await this.#file?.close();
    this.#file = undefined;
    if (!(await this.#append(text))) throw new Error('the new file was removed as well');
  }

  /** Whether the file that now holds the text still has its name. */
  async #append(text: string): Promise<boolean> {
    this.#file ??= await this.#create();
    await this.#file.appendFile(text);
    await this.#file.datasync();
    return (await this.#file.stat()).nlink > 0;
  }

  async #create(): Promise<FileHandle> {
    await mkdir(this.#folder, { recursive: true });
    const file = await open(this.#pathOf(this.processId), 'a', 0o600);
    const folder = await open(this.#folder, 'r');
    // A new file is safe once its folder is.
    await folder.sync().finally(() => folder.close());
    return file;
  }
}

function owedCallOf(line: string): OwedCall | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) && typeof value.executionId === 'string'
      ? (value as unknown as OwedCall)
      : undefined;
  } catch {
    return undefined;
  }
}
