import { mkdir, open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../common/json-object.js';
import type { OwedCall } from './execution-steps.js';

const FOLDER = 'owed';
const SUFFIX = '.jsonl';

interface Line {
  readonly text: string;
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
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ text: `${JSON.stringify(owed)}\n`, resolve, reject });
    });
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
    return written;
  }

  /** Forgets what was written; call it when all of it is paid. */
  async clear(): Promise<void> {
    await this.#writing;
    await this.#file?.truncate(0);
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

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0);
      try {
        this.#file ??= await this.#create();
        await this.#file.appendFile(lines.map((line) => line.text).join(''));
        await this.#file.datasync();
        for (const line of lines) line.resolve();
      } catch (error) {
        for (const line of lines) line.reject(error);
      }
    }
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
