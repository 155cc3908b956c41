import { Injectable } from '@nestjs/common';
import type { QuotedCall } from '../admission/quotes/quotable-calls.js';
import type { CostedRoute } from '../catalog/route-cost.js';
import { chosenOf, type VideoChoice } from '../catalog/video-choices.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
import { UserSuppliedUrls } from '../platform/http-client/user-supplied-urls.js';
import type { VideoCommand } from '../providers/ports/job.port.js';
import { AbleRoutes } from '../providers/routing/able-routes.js';
import type { VideoBody } from './dto/video.body.js';
import { checkVideoLimits } from './video-limits.js';

/** What a submission asks, at its price. */
export interface CheckedVideo {
  readonly quote: Quote;
  readonly command: VideoCommand;
  readonly chosen: VideoChoice;
}
type VideoCall = Pick<QuotedCall<'video'>, 'row' | 'routes'>;

/** What can be refused of a submission before anything is held (API: POST /v1/videos). */
@Injectable()
export class VideoChecks {
  constructor(
    private readonly urls: UserSuppliedUrls,
    private readonly able: AbleRoutes,
  ) {}

  /** Whatever can be refused from the text of the body. Throws 400 `invalid_request` whose `param` is the field. */
  text({ row }: VideoCall, body: VideoBody): CheckedVideo {
    const quote = checkVideoLimits(row, body);
    for (const image of videoImagesOf(body)) {
      const rejection = this.urls.rejectionOf(image.url);
      if (rejection !== undefined) throw badImage(image, rejection);
    }
    const chosen = chosenOf(row.limits, body);
    return { quote, command: commandOf(body, chosen), chosen };
  }

  /** The routes that do all of it. Throws as {@link AbleRoutes.of}, such as for fields that none takes together. */
  routes(call: VideoCall, body: VideoBody, command: VideoCommand): readonly CostedRoute[] {
    const { terms } = call.row;
    const isSent = (field: string): boolean => body[field as keyof VideoBody] !== undefined;
    return this.able.of(call, 'video', (port, route) => {
      const lacking = port.lacks?.(command, { ...route, terms }) ?? [];
      // A choice that was left out has a value too, and is not what the caller can change.
      const sent = lacking.filter(isSent);
      return sent.length > 0 ? sent : lacking;
    });
  }

  /** The provider fetches the image, so a host that does not resolve now is accepted. */
  async imageHosts(body: VideoBody): Promise<void> {
    const images = videoImagesOf(body);
    const hosts = await Promise.all(images.map(({ url }) => this.urls.hostOf(url)));
    const image = images[hosts.indexOf('private')];
    if (image !== undefined) throw badImage(image, 'must point at a public host');
  }
}

/** An image that a request names. */
interface NamedImage {
  readonly url: string;
  readonly field: 'first_frame_url' | 'last_frame_url' | 'image_urls';
  /** The field, with the place in its list. */
  readonly place: string;
}

/** The images that a submission names. */
export function videoImagesOf(body: VideoBody): NamedImage[] {
  const frames = (['first_frame_url', 'last_frame_url'] as const).flatMap((field) => {
    const url = body[field];
    return url === undefined ? [] : [{ url, field, place: field }];
  });
  const references = (body.image_urls ?? []).map((url, index) => {
    return { url, field: 'image_urls' as const, place: `image_urls.${index}` };
  });
  return [...frames, ...references];
}

function commandOf(body: VideoBody, { resolution, sound }: VideoChoice): VideoCommand {
  return {
    prompt: body.prompt,
    seconds: body.seconds,
    size: body.size,
    aspectRatio: body.aspect_ratio,
    resolution,
    audio: sound,
    firstFrameUrl: body.first_frame_url,
    lastFrameUrl: body.last_frame_url,
    imageUrls: body.image_urls,
  };
}

function badImage({ field, place }: NamedImage, rejection: string): GatewayError {
  return new GatewayError('invalid_request', `${place} ${rejection}.`, { param: field });
}
