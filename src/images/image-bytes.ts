import { Injectable } from '@nestjs/common';
import type { StopSignal } from '../common/stop-signal.js';
import { BoundedDownload } from '../net/bounded-download.js';
import { ProviderError } from '../providers/http/provider-error.js';
import type { ImageResult } from '../providers/ports/image.port.js';

/** Largest image fetched from a provider's URL. */
const IMAGE_LIMIT_BYTES = 48 * 1024 * 1024;
const MAGIC_CHARACTERS = 16;
/** The first characters of PNG, JPEG, GIF and WebP files, as latin-1. */
const MAGIC = /^(\x89PNG\r\n|\xff\xd8\xff|GIF8|RIFF....WEBP)/s;

/** Turns a provider's answer into the bytes of an image (decision G-32). */
@Injectable()
export class ImageBytes {
  constructor(private readonly download: BoundedDownload) {}

  /** The image in base64. It is fetched first if the provider gave a URL. Throws ProviderError if it is no image. */
  async base64Of(provider: string, result: ImageResult, signal: StopSignal): Promise<string> {
    const { image, providerRequestId } = result;
    const base64 = 'base64' in image ? image.base64 : await this.fetch(image.url, signal);
    if (base64 !== undefined && isImage(base64)) return base64;
    signal.throwIfAborted();
    throw new ProviderError('http_error', {
      provider,
      sent: true,
      upstreamCode: 'no_image',
      providerRequestId,
    });
  }

  /** Undefined when the URL is refused or cannot be read. Clients never see its text and address. */
  private async fetch(url: string, signal: StopSignal): Promise<string | undefined> {
    try {
      const { data } = await this.download.toBytes(url, { limitBytes: IMAGE_LIMIT_BYTES, signal });
      return data.toString('base64');
    } catch {
      return undefined;
    }
  }
}

function isImage(base64: string): boolean {
  return MAGIC.test(Buffer.from(base64.slice(0, MAGIC_CHARACTERS), 'base64').toString('latin1'));
}
