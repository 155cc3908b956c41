import type { JsonObject } from '../../common/json-object.js';
import { carriesError } from '../http/error-facts.js';
import type { ProviderHttp } from '../http/provider-http.js';
import {
  type FileOfForm,
  jsonBody,
  multipartBody,
  type RequestBody,
} from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  ImageCommand,
  ImageEditCommand,
  ImagePort,
  ImageResult,
  ImageWishes,
} from '../ports/image.port.js';
import { generatedImagesOf } from './generated-image.js';

/** A large image takes about 10 MB in base64. */
const MAX_IMAGE_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Several images share at most so many times that. */
const MOST_SHARES = 4;

/** Images over the OpenAI wire protocol. */
export class OpenAiImage implements ImagePort {
  constructor(private readonly http: ProviderHttp) {}

  generateImage(command: ImageCommand, context: AttemptContext): Promise<ImageResult> {
    return this.make('/images/generations', jsonBody(fieldsOf(command, context)), command, context);
  }

  editImage(command: ImageEditCommand, context: AttemptContext): Promise<ImageResult> {
    const { images, mask } = command;
    // The vendor takes a list under a name with brackets, and one image under either.
    const field = images.length === 1 ? 'image' : 'image[]';
    const files: FileOfForm[] = images.map((file) => ({ field, file }));
    if (mask) files.push({ field: 'mask', file: mask });
    const body = multipartBody(fieldsOf(command, context), files);
    return this.make('/images/edits', body, command, context);
  }

  private make(
    path: string,
    body: RequestBody,
    { count = 1 }: ImageWishes,
    context: AttemptContext,
  ): Promise<ImageResult> {
    const request = { method: 'POST', path, body, timeout: 'image', context } as const;
    const limitBytes = MAX_IMAGE_RESPONSE_BYTES * Math.min(count, MOST_SHARES);
    return this.http.requestJson(request, limitBytes, (json, providerRequestId) =>
      toResult(json, providerRequestId, count),
    );
  }
}

function fieldsOf(
  { prompt, count, size, quality, background, outputFormat, outputCompression }: ImageWishes,
  { upstreamModel }: AttemptContext,
) {
  return {
    model: upstreamModel,
    prompt,
    n: count ?? 1,
    size,
    quality,
    background,
    output_format: outputFormat,
    output_compression: outputCompression,
  };
}

/** Undefined for a response without an image or with an error, which is a failure (decision G-32). */
function toResult(
  json: JsonObject,
  providerRequestId: string | null,
  count: number,
): ImageResult | undefined {
  if (carriesError(json)) return undefined;
  const images = generatedImagesOf(json, count);
  return images.length === 0 ? undefined : { images, providerRequestId };
}
