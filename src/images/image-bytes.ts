import { Injectable } from '@nestjs/common';
import { BoundedDownload } from '../platform/http-client/bounded-download.js';
import { ProviderError } from '../providers/http/provider-error.js';
import type { ImageResult } from '../providers/ports/image.port.js';

/** Largest image fetched from a provider's URL. */
const IMAGE_LIMIT_BYTES = 48 * 1024 * 1024;
const MAGIC_BYTES = 12;
/** The first characters of PNG, JPEG, GIF and WebP files, as latin-1. */
const MAGIC = /^(\x89PNG\r\n|\xff\xd8\xff|GIF8|RIFF....WEBP)/s;

/** Neither a digit of base64 nor white space. */
const NOT_OF_BASE64 = /[^\w\s+/-]/;
const PADDING = /^[=\s]*$/;

/** Turns a provider's answer into the bytes of an image (decision G-32). */
@Injectable()
export class ImageBytes {
  constructor(private readonly download: BoundedDownload) {}

  /** The image in base64. It is fetched first if the provider gave a URL. Throws ProviderError if it is no image. */
  async base64Of(provider: string, result: ImageResult, signal: AbortSignal): Promise<string> {
    const { image, providerRequestId } = result;
    const base64 = 'base64' in image ? wholeOf(image.base64) : await this.fetch(image.url, signal);
    if (base64 !== undefined) return base64;
    signal.throwIfAborted();
    throw new ProviderError('http_error', {
      provider,
      sent: true,
      upstreamCode: 'no_image',
      providerRequestId,
    });
  }

  /** Undefined when the URL is refused, cannot be read or is no image. Clients never see its text and address. */
  private async fetch(url: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { data } = await this.download.toBytes(url, { limitBytes: IMAGE_LIMIT_BYTES, signal });
      return isImage(data) ? data.toString('base64') : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The base64 as every client reads it; undefined if it has a foreign character other than white space or is no image. */
function wholeOf(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (!isImage(bytes)) return undefined;
  // The decoder leaves out what is foreign. Only a text that is shorter than it looks is read once more.
  const isDense = bytes.length === Buffer.byteLength(base64, 'base64');
  // The decoder takes the alphabet of URLs and missing padding as well, at which clients fail.
  const isStandard = base64.length % 4 === 0 && !base64.includes('-') && !base64.includes('_');
  if (isDense && isStandard) return base64;
  const end = base64.search(NOT_OF_BASE64);
  const isWhole = isDense || end === -1 || PADDING.test(base64.slice(end));
  // Encoded anew: to take the white space out of a large image piece by piece would stop the process for seconds.
  return isWhole ? bytes.toString('base64') : undefined;
}

function isImage(bytes: Buffer): boolean {
  return MAGIC.test(bytes.toString('latin1', 0, MAGIC_BYTES));
}
