import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../../common/entries-limit.js';

/** Path prefix of the finished files, which anyone may fetch. */
export const MEDIA_PREFIX = '/media';
const MAX_BYTES = 128 * 1024 * 1024;
const NAME_LENGTH = 32;
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
  /** What a fetch of a file gets instead of the file: an error status, or the effect of a magic input. */
  readonly fault?: string | (() => string | undefined) | undefined;
}

/** The files that the sandbox offers by URL. When they exceed 128 MB, the oldest bytes are dropped. */
export class MediaShelf {
  private readonly files = new LRUCache<string, ShelvedFile>({
    maxSize: MAX_BYTES,
    sizeCalculation: (file) => file.bytes.length + 1,
  });
  private readonly promises = new LRUCache<string, PromisedFile>(entriesLimit(MAX_PROMISES));
  private readonly kept = new Map<string, PromisedFile>();
  private readonly making = new Map<string, Promise<ShelvedFile>>();
  private base: string | undefined;

  /** Keeps a file under a name with the given extension; returns the name. Equal files have one name. */
  put(file: ShelvedFile, extension: string): string {
    const hash = createHash('sha256').update(file.contentType).update(file.bytes).digest('hex');
    const name = `${hash.slice(0, NAME_LENGTH)}.${extension}`;
    this.files.set(name, file);
    return name;
  }

  /** Keeps the description of a file that is made when it is fetched. It is made again if its bytes were dropped. */
  promise(file: PromisedFile, extension: string): string {
    const name = newName(extension);
    this.promises.set(name, file);
    return name;
  }

  /** Keeps such a description under a given name, for as long as the sandbox runs. */
  keep(name: string, file: PromisedFile): void {
    this.kept.set(name, file);
  }

  /** The file of this name. It is made now if it does not exist yet. */
  async get(name: string): Promise<ShelvedFile | undefined> {
    const file = this.files.get(name) ?? this.making.get(name);
    const promised = this.promises.get(name) ?? this.kept.get(name);
    if (file !== undefined || promised === undefined) return file;
    const made = this.make(name, promised);
    this.making.set(name, made);
    return made.finally(() => this.making.delete(name));
  }

  /** What this fetch of this file is to get instead of the file, if anything. */
  faultOf(name: string): string | undefined {
    const fault = this.promises.get(name)?.fault;
    return typeof fault === 'function' ? fault() : fault;
  }

  /** Sets the base of all later URLs, for a server that publishes the files elsewhere. */
  publishAt(base: string): void {
    this.base = base;
  }

  /** The URL of a file. Without a base it begins with the host that the request to the sandbox named. */
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
