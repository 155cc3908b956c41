import { LRUCache } from 'lru-cache';

const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** Finished files, found by what they were made from. Their bytes are bounded. */
export type ClipCache = LRUCache<string, Buffer>;

/** An empty cache for at most 32 MB of files. */
export function createClipCache(): ClipCache {
  return new LRUCache<string, Buffer>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: (clip) => clip.length + 1,
  });
}

/** Passes a file on while it is made. Keeps the file once it is complete. */
export async function* collectInto(
  clips: ClipCache,
  key: string,
  file: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file) {
    pieces.push(piece);
    yield piece;
  }
  clips.set(key, Buffer.concat(pieces));
}
