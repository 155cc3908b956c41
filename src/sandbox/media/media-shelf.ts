import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

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

  /** Keeps a file and returns its name, with the extension given. */
  put(file: MediaFile, extension: string): string {
    const name = `${randomUUID().replaceAll('-', '')}.${extension}`;
    this.files.set(name, file);
    return name;
  }

  get(name: string): MediaFile | undefined {
    return this.files.get(name);
  }
}
