import { Injectable } from '@nestjs/common';
import { invalidField } from '../common/errors/gateway-error.js';
import { UserSuppliedUrls } from '../platform/http-client/user-supplied-urls.js';
import { type ImageCall, InlinedImages } from './inlined-images.js';
import type { NamedImage, TextRequest } from './text-request.js';

/** The images of one request may be on at most this many hosts, because each needs a DNS query. */
const MAX_HOSTS = 50;

/**
 * Images that a call names by http(s) URL. They are checked like every URL of a caller (decisions G-43, G-62).
 */
@Injectable()
export class NamedImages {
  constructor(
    private readonly urls: UserSuppliedUrls,
    private readonly inlined: InlinedImages,
  ) {}

  /**
   * {@link check}, then the request as the routes of the call need it: with the bytes of its images where a vendor takes no
   * URLs. To be awaited before anything is held. Throws what {@link InlinedImages.in} throws, too.
   */
  async ready(call: ImageCall, asked: TextRequest): Promise<TextRequest> {
    await this.check(asked.images);
    return this.inlined.in(call, asked);
  }

  /**
   * Throws `invalid_request` with the path of the first URL that is not public, or whose host exceeds the maximum
   * number. A host that does not resolve now is accepted, because the provider fetches the image.
   */
  async check(images: readonly NamedImage[]): Promise<void> {
    const hosts = this.checkTexts(images);
    const verdicts = await Promise.all(hosts.map(({ url }) => this.urls.hostOf(url)));
    const bad = hosts.find((_image, index) => verdicts[index] === 'private');
    if (bad) throw invalidField(bad.param, 'must point at a public host');
  }

  /** {@link check} without the look at the hosts; returns an image of each of them. */
  checkTexts(images: readonly NamedImage[]): readonly NamedImage[] {
    const byHost = new Map<string, NamedImage>();
    for (const image of images) {
      const says = this.urls.rejectionOf(image.url);
      if (says !== undefined) throw invalidField(image.param, says);
      const { origin } = new URL(image.url);
      if (byHost.has(origin)) continue;
      if (byHost.size === MAX_HOSTS) {
        throw invalidField(image.param, `must be on one of at most ${MAX_HOSTS} hosts`);
      }
      byHost.set(origin, image);
    }
    return [...byHost.values()];
  }
}
