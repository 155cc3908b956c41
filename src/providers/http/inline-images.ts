import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';

/** An image that is sent inside of a request. */
export interface InlineImage {
  readonly data: Buffer;
  /** Such as `image/png`. */
  readonly contentType: string;
}

/**
 * The images that callers named, by their URLs, fetched one after the other through the guarded dialer; undefined where one of them
 * cannot be fetched, is no image by its type, or makes all of them larger than `limitBytes`. An aborted signal rejects with its
 * reason.
 */
export async function fetchedImages(
  download: BoundedDownload | undefined,
  urls: ReadonlySet<string>,
  { limitBytes, signal }: { readonly limitBytes: number; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, InlineImage> | undefined> {
  const images = new Map<string, InlineImage>();
  let leftBytes = limitBytes;
  for (const url of urls) {
    const options = { limitBytes: leftBytes, signal };
    const found = await download?.toBytes(url, options).catch(() => undefined);
    signal.throwIfAborted();
    const [, contentType] = /^(image\/[\w.+-]{1,50})/.exec(found?.contentType ?? '') ?? [];
    if (!found || contentType === undefined) return undefined;
    leftBytes -= found.data.length;
    images.set(url, { data: found.data, contentType });
  }
  return images;
}
