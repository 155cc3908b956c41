import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfImage } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Charged } from '../platform/http-server/responses/gateway-headers.js';
import type { Quote } from '../common/money/charge-basis.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { oneOfWords } from '../common/validation/fields.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { ImageBody } from './dto/image.body.js';
import { ImageBytes } from './image-bytes.js';
import type { ImageView } from './image.view.js';

/** The value that means the default behaviour; it is not forwarded (decision G-94). */
const AUTOMATIC = 'auto';

/** Image generation (API: POST /v1/images/generations). */
@Injectable()
export class ImagesService implements OnModuleInit {
  constructor(
    private readonly calls: PaidCalls,
    private readonly bytes: ImageBytes,
    private readonly clock: Clock,
    private readonly quotable: QuotableCalls,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(ImageBody);
    this.quotable.register('image', ({ row }, body) => ({
      quote: orderOf(row, validator.parse(body)).quote,
      unchecked: [],
    }));
  }

  /**
   * Returns the image in base64 once its charge is durable. Without an image there is no charge (decision G-32). Throws
   * 400 for a size or quality that the model does not support, 402 `insufficient_user_quota`, and the provider's
   * failures.
   */
  async generate(call: AdmittedCall<'image'>, body: ImageBody): Promise<Charged<ImageView>> {
    const { prompt } = body;
    const { size, quote } = orderOf(call.row, body);
    await using paid = await this.calls.start(call, quote);
    const { provider, result } = await paid.attempt((port, context) =>
      port.generateImage({ prompt, size }, context),
    );
    const base64 = await paid.orRelease(this.bytes.base64Of(provider, result, paid.signal));
    const value = { created: this.clock.nowSeconds(), data: [{ b64_json: base64 }] };
    return { value, chargedMicroUsd: await paid.settle() };
  }
}

/** The image that is sent for, and its price. */
function orderOf(
  row: ModelRow<'image'>,
  body: ImageBody,
): { size: string | undefined; quote: Quote } {
  checkQuality(row, body.quality);
  const size = sizeOf(row, body.size);
  return { size, quote: quoteOfImage(row, size) };
}

/** Undefined if the size is automatic. */
function sizeOf({ limits: { sizes } }: ModelRow<'image'>, size = AUTOMATIC): string | undefined {
  if (size === AUTOMATIC) return undefined;
  if (sizes.includes(size)) return size;
  throw rejection('size', [...sizes, AUTOMATIC]);
}

/** The quality is fixed by the model row, because the price depends on it. A caller may send the same value. */
function checkQuality({ terms }: ModelRow<'image'>, quality = AUTOMATIC): void {
  const own = terms?.constants?.quality;
  if (quality === AUTOMATIC || quality === own) return;
  throw rejection('quality', typeof own === 'string' ? [AUTOMATIC, own] : [AUTOMATIC]);
}

function rejection(param: string, words: readonly string[]): GatewayError {
  return new GatewayError('invalid_request', `${param} must be ${oneOfWords(words)}.`, { param });
}
