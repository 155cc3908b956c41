import { Injectable } from '@nestjs/common';
import { imageTypeOf } from '../media/image-types.js';
import { BoundedDownload } from '../platform/http-client/bounded-download.js';
import { untilOpened } from '../providers/http/given-file.js';
import { ProviderError } from '../providers/http/provider-error.js';
import type { ImageResult } from '../providers/ports/image.port.js';

/** Largest image fetched from a provider's URL. */
const IMAGE_LIMIT_BYTES = 48 * 1024 * 1024;
/** Characters of all images of an answer: a text can have little more. What is beyond is neither sent nor charged. */
const MAX_ANSWER_CHARS = 400_000_000;

/** Matches characters that are neither base64 digits nor white space. */
const NOT_OF_BASE64 = /[^\w\s+/-]/;
const PADDING = /^[=\s]*$/;

/** Turns a provider's response into the bytes of images (decision G-32). */
@Injectable()
export class ImageBytes {
  constructor(private readonly download: BoundedDownload) {}

  /**
   * The images in base64. One is fetched first if the provider gave a URL. What is no image is left out. If nothing is left, throws
   * ProviderError: the work is lost, and is not asked for again.
   */
  async base64Of(provider: string, result: ImageResult, signal: AbortSignal): Promise<string[]> {
    const { images, providerRequestId } = result;
    const texts = await Promise.all(
      images.map(async (image) =>
        'base64' in image ? wholeOf(image.base64) : this.fetch(image.url, signal),
      ),
    );
    const made = withinOneAnswer(texts.filter((text) => text !== undefined));
    if (made.length > 0) return made;
    signal.throwIfAborted();
    const detail = { provider, sent: true, upstreamCode: 'no_image', providerRequestId };
    throw Object.assign(new ProviderError('http_error', detail), { isPartial: true });
  }

  /** Undefined if the URL is not allowed, cannot be read in a minute or is no image. Clients never see the URL. */
  private async fetch(url: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const limits = { limitBytes: IMAGE_LIMIT_BYTES, signal };
      const fetched = (totalMs: number) =>
        this.download.toBytes(url, { ...limits, limits: { totalMs } });
      const { data } = await untilOpened(fetched, signal);
      return imageTypeOf(data) === undefined ? undefined : data.toString('base64');
    } catch {
      return undefined;
    }
  }
}

function withinOneAnswer(texts: readonly string[]): string[] {
  let chars = 0;
  return texts.filter(({ length }) => {
    chars += length;
    return chars <= MAX_ANSWER_CHARS;
  });
}

/** The base64 as every client reads it; undefined if it has a foreign character other than white space or is no image. */
function wholeOf(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (imageTypeOf(bytes) === undefined) return undefined;
  // The decoder skips foreign characters. Only if the result is shorter than expected, the text is checked again.
  const isDense = bytes.length === Buffer.byteLength(base64, 'base64');
  // The decoder also accepts the URL-safe alphabet and missing padding, which clients reject.
  const isStandard = base64.length % 4 === 0 && !base64.includes('-') && !base64.includes('_');
  if (isDense && isStandard) return base64;
  const end = base64.search(NOT_OF_BASE64);
  const isWhole = isDense || end === -1 || PADDING.test(base64.slice(end));
  // Encoded again: removing the white space of a large image piece by piece would block the process for seconds.
  return isWhole ? bytes.toString('base64') : undefined;
}
