import type { JsonObject } from '../../common/json-object.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ImageCommand, ImagePort, ImageResult } from '../ports/image.port.js';
import { answerIdOf, candidateOf, candidateParts, inlineDataOf } from './gemini-candidate.js';
import { generateContent } from './generate-content.js';

/** A picture of 4096 by 4096 pixels takes about 30 MB in base64. */
const MAX_IMAGE_RESPONSE_BYTES = 64 * 1024 * 1024;
/** The vendor's words for the longer side of a picture, largest first; without one it is about 1024 pixels long. */
const SIZES: readonly (readonly [leastPixels: number, word: string])[] = [
  [3_000, '4K'],
  [1_700, '2K'],
];

/** Images over Gemini's `generateContent`. */
export class GeminiImage implements ImagePort {
  constructor(private readonly http: ProviderHttp) {}

  generateImage({ prompt, size }: ImageCommand, context: AttemptContext): Promise<ImageResult> {
    const body = {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: imageConfigOf(size) },
    };
    const request = generateContent(body, 'image', context);
    return this.http.requestJson(request, MAX_IMAGE_RESPONSE_BYTES, toResult);
  }
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
      image: { base64: image.base64 },
      providerRequestId: answerIdOf(json, providerRequestId),
    }
  );
}
