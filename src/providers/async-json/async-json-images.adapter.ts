import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext, RouteTerms } from '../ports/attempt.js';
import type { ImageCommand, ImagePort, ImageResult } from '../ports/image.port.js';
import type { AwaitedJobs } from './awaited-jobs.js';
import type { VendorKey } from './vendor-key.js';
import type { VendorValues } from './vendor-template.js';

const SIDES = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;

/** Images at a vendor that its file describes: one job makes those of one call, and is waited for. */
export class AsyncJsonImages implements ImagePort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly key: VendorKey,
    private readonly awaited: AwaitedJobs,
  ) {}

  /** The URLs of the images, without the key. */
  async generateImage(command: ImageCommand, context: AttemptContext): Promise<ImageResult> {
    const { count = 1 } = command;
    const values = imageValuesOf({ ...command, count }, context);
    const quantityOf = (urls: number) =>
      ({ unit: 'image', quantity: urls > 0 ? Math.min(urls, count) : count }) as const;
    const made = await this.awaited.made(values, quantityOf, context);
    // One that holds the key is left out.
    const images = made.urls.slice(0, count).flatMap((text) => {
      const url = this.key.takenFrom(text);
      return url === undefined ? [] : [{ url }];
    });
    return { images, providerRequestId: made.requestId };
  }

  /** Throws ProviderError: a file describes no edits, and `catalog:check` refuses their rows. */
  editImage(): Promise<ImageResult> {
    return Promise.reject(this.http.refusal('no_edits'));
  }
}

/** The values of the fields that a body for images may name. */
export function imageValuesOf(command: ImageCommand, { upstreamModel }: RouteTerms): VendorValues {
  const { size } = command;
  const [, width, height] = SIDES.exec(size ?? '') ?? [];
  return {
    model: upstreamModel,
    prompt: command.prompt,
    size,
    width: width && Number(width),
    height: height && Number(height),
    count: command.count,
    quality: command.quality,
    background: command.background,
    output_format: command.outputFormat,
    output_compression: command.outputCompression,
  };
}
