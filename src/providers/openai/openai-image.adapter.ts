import type { JsonObject } from '../../common/json-object.js';
import { carriesError } from '../http/error-facts.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ImageCommand, ImagePort, ImageResult } from '../ports/image.port.js';
import { generatedImageOf } from './generated-image.js';

/** A large image takes about 10 MB in base64. */
const MAX_IMAGE_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Images over the OpenAI wire protocol. */
export class OpenAiImage implements ImagePort {
  constructor(private readonly http: ProviderHttp) {}

  generateImage({ prompt, size }: ImageCommand, context: AttemptContext): Promise<ImageResult> {
    const request = {
      method: 'POST',
      path: '/images/generations',
      body: jsonBody({ model: context.upstreamModel, prompt, n: 1, size }),
      timeout: 'image',
      context,
    } as const;
    return this.http.requestJson(request, MAX_IMAGE_RESPONSE_BYTES, toResult);
  }
}

/** Undefined for a response without an image or with an error, which is a failure (decision G-32). */
function toResult(json: JsonObject, providerRequestId: string | null): ImageResult | undefined {
  if (carriesError(json)) return undefined;
  const image = generatedImageOf(json);
  return image && { image, providerRequestId };
}
