import { Injectable } from '@nestjs/common';
import { quoteOfImage } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Charged } from '../common/http/answers/charged-answer.js';
import { oneOfWords } from '../common/validation/fields.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { PaidCalls } from '../executions/paid-calls.js';
import type { ImageBody } from './dto/image.body.js';
import { ImageBytes } from './image-bytes.js';
import type { ImageView } from './image.view.js';

/** The size that is made without one; it is not forwarded (decision G-94). */
const AUTOMATIC = 'auto';

/** Image generation (spec: POST /v1/images/generations). */
@Injectable()
export class ImagesService {
  constructor(
    private readonly calls: PaidCalls,
    private readonly bytes: ImageBytes,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the image in base64 once its charge is durable. Without an image there is no charge (decision G-32). Throws
   * 400 for a size that the model does not make, 402 `insufficient_user_quota`, and the provider's failures.
   */
  async generate(call: AdmittedCall<'image'>, body: ImageBody): Promise<Charged<ImageView>> {
    const { prompt } = body;
    const { sizes } = call.row.limits;
    const size = body.size === AUTOMATIC ? undefined : body.size;
    if (size !== undefined && !sizes.includes(size)) {
      const message = `size must be ${oneOfWords([...sizes, AUTOMATIC])}.`;
      throw new GatewayError('invalid_request', message, { param: 'size' });
    }
    return this.calls.run(
      call,
      quoteOfImage(call.row.price),
      (port, context) => port.generateImage({ prompt, size }, context),
      async ({ provider, result }, signal) => {
        const base64 = await this.bytes.base64Of(provider, result, signal);
        return { value: { created: this.clock.nowSeconds(), data: [{ b64_json: base64 }] } };
      },
    );
  }
}
