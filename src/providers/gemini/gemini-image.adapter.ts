import { readFile } from 'node:fs/promises';
import type { JsonObject } from '../../common/json-object.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { WrittenBody } from '../http/request-body.js';
import type { UpstreamRequest } from '../http/upstream-request.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  ImageCommand,
  ImageEditCommand,
  ImagePort,
  ImageResult,
  ImageWishes,
} from '../ports/image.port.js';
import { answerIdOf, candidateOf, candidateParts, inlineDataOf } from './gemini-candidate.js';
import { generateContent } from './generate-content.js';

/** A picture of 4096 by 4096 pixels takes about 30 MB in base64. */
const MAX_IMAGE_RESPONSE_BYTES = 64 * 1024 * 1024;
/** A request with bytes in it may have 20 MB, and base64 takes a third more. */
const MAX_INLINE_BYTES = 14 * 1024 * 1024;
/** Images of one call that are asked for at once. */
const PARALLEL = 3;
/** The vendor's words for the longer side of a picture, largest first; without one it is about 1024 pixels long. */
const SIZES: readonly (readonly [leastPixels: number, word: string])[] = [
  [3_000, '4K'],
  [1_700, '2K'],
];

/** Images over Gemini's `generateContent`. */
export class GeminiImage implements ImagePort {
  constructor(private readonly http: ProviderHttp) {}

  generateImage(command: ImageCommand, context: AttemptContext): Promise<ImageResult> {
    return this.make(command, [], context);
  }

  /** The images stand in the request as bytes, and the vendor knows no mask. */
  async editImage(command: ImageEditCommand, context: AttemptContext): Promise<ImageResult> {
    const { images, mask } = command;
    if (mask) throw this.http.refusal('mask_not_supported');
    const bytes = images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (bytes > MAX_INLINE_BYTES) throw this.http.refusal('images_too_large');
    const parts: object[] = [];
    for (const { path, contentType: mimeType } of images) {
      parts.push({ inlineData: { mimeType, data: await readFile(path, 'base64') } });
    }
    return this.make(command, parts, context);
  }

  /** An answer has one image, so several are asked for, a few at once. Those that came are the result. */
  private async make(
    { prompt, size, count = 1 }: ImageWishes,
    images: readonly object[],
    context: AttemptContext,
  ): Promise<ImageResult> {
    const body = {
      contents: [{ role: 'user', parts: [...images, { text: prompt }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: imageConfigOf(size) },
    };
    const request = writtenOnce(generateContent(body, 'image', context));
    const made: ImageResult[] = [];
    const failures: unknown[] = [];
    let left = count;
    const ask = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await this.http.requestJson(request, MAX_IMAGE_RESPONSE_BYTES, toResult).then(
          (result) => made.push(result),
          (error: unknown) => failures.push(error),
        );
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, count) }, ask));
    const [first] = made;
    if (first) return { ...first, images: made.flatMap((result) => result.images) };
    // Where one of them may have made an image, no other provider is asked.
    throw failures.find((error) => !isSafeToFailover(error)) ?? failures[0];
  }
}

const isSafeToFailover = (error: unknown): boolean =>
  error instanceof ProviderError && error.safeToFailover;

/** The request, whose body is written once for all its sendings: with images in it it has megabytes. */
function writtenOnce(request: UpstreamRequest): UpstreamRequest {
  const { body } = request;
  if (!body) return request;
  let written: WrittenBody | undefined;
  return { ...request, body: { written: (terms) => (written ??= body.written(terms)) } };
}

/** Shape and size in the vendor's words; undefined for a size that is not `<width>x<height>`, as for none. */
function imageConfigOf(size: string | undefined): object | undefined {
  const [, wide, high] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size ?? '') ?? [];
  if (wide === undefined || high === undefined) return undefined;
  const [width, height] = [Number(wide), Number(high)];
  const common = greatestCommonDivisor(width, height);
  return {
    aspectRatio: `${width / common}:${height / common}`,
    imageSize: SIZES.find(([least]) => Math.max(width, height) >= least)?.[1],
  };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** The last picture: drafts come before it. Undefined for an answer without one, which is a failure (decision G-32). */
function toResult(json: JsonObject, providerRequestId: string | null): ImageResult | undefined {
  const images = candidateParts(candidateOf(json)).flatMap((part) => inlineDataOf(part) ?? []);
  const image = images.findLast(({ mimeType }) => mimeType.startsWith('image/'));
  return (
    image && {
      images: [{ base64: image.base64 }],
      providerRequestId: answerIdOf(json, providerRequestId),
    }
  );
}
