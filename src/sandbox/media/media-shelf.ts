import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Path below which finished files are served to anyone. */
export const MEDIA_PREFIX = '/media';
const MAX_BYTES = 256 * 1024 * 1024;

/** A finished file that can be fetched by URL. */
export interface MediaFile {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** Files the sandbox answers with a URL for; the oldest go when 256 MB are full. */
export class MediaShelf {
  private readonly files = new LRUCache<string, MediaFile>({
    maxSize: MAX_BYTES,
    sizeCalculation: (file) => file.bytes.length + 1,
  });
  private base: string | undefined;

  /** Keeps a file and returns its name, with the extension given. */
  put(file: MediaFile, extension: string): string {
    const name = `${randomUUID().replaceAll('-', '')}.${extension}`;
    this.files.set(name, file);
    return name;
  }

  get(name: string): MediaFile | undefined {
    return this.files.get(name);
  }

  /** From now on URLs begin with this base, where somebody else hands the files on. */
  publishAt(base: string): void {
    this.base = base;
  }

  /** The URL of a file; without a base it begins with the host the sandbox itself was called by. */
  urlOf(name: string, ownHost = '127.0.0.1'): string {
    return `${this.base ?? `http://${ownHost}${MEDIA_PREFIX}`}/${name}`;
  }
}
