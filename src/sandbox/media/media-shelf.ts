import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Path below which finished files are served to anyone. */
export const MEDIA_PREFIX = '/media';
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_PROMISES = 50_000;

/** A finished file that can be fetched by URL. */
export interface ShelvedFile {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** A file that is made when it is fetched for the first time. */
export interface PromisedFile {
  readonly contentType: string;
  readonly make: () => Promise<Buffer>;
  /** What every fetch gets instead: an error status or a magic input that spoils answers. */
  readonly fault?: string | undefined;
}

/** Files the sandbox answers with a URL for; the oldest bytes go when 256 MB are full. */
export class MediaShelf {
  private readonly files = new LRUCache<string, ShelvedFile>({
    maxSize: MAX_BYTES,
    sizeCalculation: (file) => file.bytes.length + 1,
  });
  private readonly promises = new LRUCache<string, PromisedFile>({ max: MAX_PROMISES });
  private readonly kept = new Map<string, PromisedFile>();
  private readonly making = new Map<string, Promise<ShelvedFile>>();
  private base: string | undefined;

  /** Keeps a file and returns its name, with the extension given. */
  put(file: ShelvedFile, extension: string): string {
    const name = newName(extension);
    this.files.set(name, file);
    return name;
  }

  /** Keeps a file that is made when it is fetched; made again where its bytes had to go. */
  promise(file: PromisedFile, extension: string): string {
    const name = newName(extension);
    this.promises.set(name, file);
    return name;
  }

  /** Promises a file under a name of its own, for as long as the sandbox runs. */
  keep(name: string, file: PromisedFile): void {
    this.kept.set(name, file);
  }

  /** The file of this name, made now where it was only promised. */
  async get(name: string): Promise<ShelvedFile | undefined> {
    const file = this.files.get(name) ?? this.making.get(name);
    const promised = this.promises.get(name) ?? this.kept.get(name);
    if (file !== undefined || promised === undefined) return file;
    const made = this.make(name, promised);
    this.making.set(name, made);
    return made.finally(() => this.making.delete(name));
  }

  /** What fetching the file of this name is to end with, where that is not the file. */
  faultOf(name: string): string | undefined {
    return this.promises.get(name)?.fault;
  }

  /** From now on URLs begin with this base, where somebody else hands the files on. */
  publishAt(base: string): void {
    this.base = base;
  }

  /** The URL of a file; without a base it begins with the host the sandbox itself was called by. */
  urlOf(name: string, ownHost = '127.0.0.1'): string {
    return `${this.base ?? `http://${ownHost}${MEDIA_PREFIX}`}/${name}`;
  }

  private async make(name: string, { contentType, make }: PromisedFile): Promise<ShelvedFile> {
    const file = { contentType, bytes: await make() };
    this.files.set(name, file);
    return file;
  }
}

function newName(extension: string): string {
  return `${randomUUID().replaceAll('-', '')}.${extension}`;
}
