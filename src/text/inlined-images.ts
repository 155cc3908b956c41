import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { GatewayError, invalidField } from '../common/errors/gateway-error.js';
import { imageTypeOf } from '../media/image-types.js';
import { BoundedDownload } from '../platform/http-client/bounded-download.js';
import { callerLeftSignal } from '../platform/http-server/connections/caller-left-signal.js';
import type { BodyMeter } from '../platform/http-server/request-body/body-quota.js';
import type { ConversationMessage, Conversation } from '../providers/ports/conversation.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';
import { lazily, type NamedImage, type TextRequest } from './text-request.js';

/** Most bytes of all images of a call together. */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_IMAGES = 100;
/** Downloads of one call at the same time. */
const PARALLEL = 4;

/** What of a call matters for its images: who gets them, who waits for them, and whose memory they are. */
export type ImageCall = Pick<AdmittedCall<'chat'>, 'routes' | 'response'> & {
  readonly countedBody?: BodyMeter | undefined;
};

/**
 * Images on the web for vendors that take bytes only: they are fetched through the guarded dialer before anything is held,
 * and stand in the conversation as data URIs.
 */
@Injectable()
export class InlinedImages {
  constructor(
    private readonly downloads: BoundedDownload,
    private readonly providers: ProviderRegistry,
  ) {}

  /**
   * The request with the bytes of its images, if a route of the call needs them; else the same. Throws `invalid_request`
   * with the path of an image that cannot be fetched, is none, or is too large with those before it. The bytes count as
   * memory of the call's body.
   */
  async in(call: ImageCall, asked: TextRequest): Promise<TextRequest> {
    const { images, request } = asked;
    const isNeeded = call.routes.some((route) => this.providers.needsImageBytes(route));
    if (images.length === 0 || !isNeeded) return asked;
    const dataByUrl = await this.fetchAll(images, call);
    const conversation = lazily(() => withData(request.conversation(), dataByUrl));
    return { ...asked, request: { ...request, conversation } };
  }

  private async fetchAll(
    images: readonly NamedImage[],
    { response, countedBody }: ImageCall,
  ): Promise<ReadonlyMap<string, string>> {
    const first = [...new Map(images.map((image) => [image.url, image])).values()];
    const extra = first[MAX_IMAGES];
    if (extra) throw invalid(extra, `is more than the ${MAX_IMAGES} images that are fetched`);
    const stop = new AbortController();
    const meter = new ImageMeter(countedBody);
    const signal = AbortSignal.any([stop.signal, ...leftSignals(response)]);
    const waiting = first.values();
    const dataByUrl = new Map<string, string>();
    const work = async (): Promise<void> => {
      for (const image of waiting) {
        dataByUrl.set(image.url, await this.fetch(image, meter, signal));
      }
    };
    try {
      await Promise.all(Array.from({ length: PARALLEL }, work));
    } finally {
      // After a failure nobody needs the others.
      stop.abort(new Error('the images are not needed any more'));
    }
    return dataByUrl;
  }

  private async fetch(image: NamedImage, meter: BodyMeter, signal: AbortSignal): Promise<string> {
    const { url, param } = image;
    const options = { limitBytes: MAX_BYTES, param, meter, signal };
    const { data } = await this.downloads.toBytes(url, options).catch((error: unknown) => {
      throw imageError(image, error);
    });
    const type = imageTypeOf(data);
    if (type === undefined) throw invalid(image, 'must be a PNG, JPEG, GIF or WebP image');
    return `data:${type.mediaType};base64,${data.toString('base64')}`;
  }
}

/** Counts the bytes of all images of a call, against their own limit and as memory. */
class ImageMeter implements BodyMeter {
  private bytes = 0;

  constructor(private readonly memory: BodyMeter | undefined) {}

  add(more: number): GatewayError | undefined {
    this.bytes += more;
    return this.bytes > MAX_BYTES ? tooLarge() : this.memory?.add(more);
  }
}

const tooLarge = (): GatewayError =>
  new GatewayError('audio_too_large', `The images have more than ${MAX_BYTES} bytes in all.`);

const leftEarly = (): GatewayError =>
  new GatewayError('invalid_request', 'The caller left before the images were fetched.');

function leftSignals(response: ServerResponse | undefined): AbortSignal[] {
  return response ? [callerLeftSignal(response, leftEarly)] : [];
}

/** The errors of a download are those of recordings; quotas of memory are told as they are. */
function imageError(image: NamedImage, error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  if (error.code === 'audio_too_large') {
    return invalid(image, `is too large: the images of a call may have ${MAX_BYTES} bytes in all`);
  }
  if (error.code !== 'audio_download_failed') return error;
  return invalid(image, error.message.replace(/^The URL /, '').replace(/\.$/, ''), error);
}

function invalid({ param }: NamedImage, says: string, cause?: unknown): GatewayError {
  return invalidField(param, says, cause);
}

function withData(
  conversation: Conversation,
  dataByUrl: ReadonlyMap<string, string>,
): Conversation {
  const messages = conversation.messages.map((message): ConversationMessage => {
    if (message.role === 'user') {
      return { ...message, parts: message.parts.map((part) => inlined(part, dataByUrl)) };
    }
    if (message.role !== 'tool') return message;
    return { ...message, parts: message.parts.map((part) => inlined(part, dataByUrl)) };
  });
  return { ...conversation, messages };
}

function inlined<Part extends { readonly type: string }>(
  part: Part,
  dataByUrl: ReadonlyMap<string, string>,
): Part {
  if (part.type !== 'image' || !('url' in part)) return part;
  return { ...part, url: dataByUrl.get(String(part.url)) ?? part.url };
}
