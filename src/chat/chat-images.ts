import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { UserSuppliedUrls } from '../platform/http-client/user-supplied-urls.js';
import { partsOf } from './chat-messages.js';

/** The images of one request may be on at most this many hosts, because each needs a DNS query. */
const MAX_HOSTS = 50;
const WEB_URL = /^https?:/i;

/** An image, and the field that names it. */
interface NamedImage {
  readonly param: string;
  readonly url: string;
}

/**
 * Images that a chat names by URL. They are checked like every URL of a caller and never fetched here (decisions G-43,
 * G-62).
 */
@Injectable()
export class ChatImages {
  constructor(private readonly urls: UserSuppliedUrls) {}

  /**
   * Throws `invalid_request` with the path of the first URL that is not public, or whose host exceeds the maximum
   * number. Data URLs pass. A host that does not resolve now is accepted, because the provider fetches the image. The
   * messages must have been checked before.
   */
  async check(messages: readonly JsonObject[]): Promise<void> {
    const hosts = this.checkTexts(messages);
    const verdicts = await Promise.all(hosts.map(({ url }) => this.urls.hostOf(url)));
    const bad = hosts.find((_image, index) => verdicts[index] === 'private');
    if (bad) throw invalidImage(bad, 'must point at a public host');
  }

  /** {@link check} without the look at the hosts; returns an image of each of them. */
  checkTexts(messages: readonly JsonObject[]): readonly NamedImage[] {
    const byHost = new Map<string, NamedImage>();
    for (const image of imagesOf(messages)) {
      const says = this.urls.rejectionOf(image.url);
      if (says !== undefined) throw invalidImage(image, says);
      const { origin } = new URL(image.url);
      if (byHost.has(origin)) continue;
      if (byHost.size === MAX_HOSTS) {
        throw invalidImage(image, `must be on one of at most ${MAX_HOSTS} hosts`);
      }
      byHost.set(origin, image);
    }
    return [...byHost.values()];
  }
}

function imagesOf(messages: readonly JsonObject[]): NamedImage[] {
  return messages.flatMap((message, index) =>
    partsOf(message).flatMap(({ type, image_url: image }, partIndex) => {
      if (type !== 'image_url' || !isJsonObject(image) || typeof image.url !== 'string') return [];
      const param = `messages.${index}.content.${partIndex}.image_url.url`;
      return WEB_URL.test(image.url) ? [{ param, url: image.url }] : [];
    }),
  );
}

function invalidImage({ param }: NamedImage, says: string): GatewayError {
  return new GatewayError('invalid_request', `${param} ${says}.`, { param });
}
