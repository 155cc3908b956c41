import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { priceOfRequest } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { CHARGE_HEADER } from '../common/http/audio-answer.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { PayOnSuccess } from '../executions/pay-on-success.js';
import { ProviderRouter } from '../providers/routing/provider-router.js';
import type { ImageBody } from './dto/image.body.js';
import { ImageBytes } from './image-bytes.js';
import type { ImageView } from './image.view.js';

/** Image generation (spec: POST /v1/images/generations). */
@Injectable()
export class ImagesService {
  constructor(
    private readonly payment: PayOnSuccess,
    private readonly router: ProviderRouter,
    private readonly bytes: ImageBytes,
    private readonly clock: Clock,
  ) {}

  /**
   * Answers the image in base64 once its charge is durable; no image, no charge (decision G-32).
   * Throws 400 for a size the model does not make, 402 `insufficient_user_quota`, and the provider's failures.
   */
  async generate(call: AdmittedCall<'image'>, body: ImageBody, response: Response): Promise<void> {
    const { prompt, size } = body;
    const { sizes } = call.row.limits;
    if (size !== undefined && !sizes.includes(size)) {
      const message = `size must be one of ${sizes.join(', ')}.`;
      throw new GatewayError('invalid_request', message, { param: 'size' });
    }
    const price = priceOfRequest(call.row.price);
    const base64 = await this.payment.run(call, price, async (signal) => {
      const { provider, result } = await this.router.run(
        call.routes,
        'image',
        (port, context) => port.generateImage({ prompt, size }, context),
        signal,
      );
      const value = await this.bytes.base64Of(provider, result, signal);
      return { value, provider, providerRequestId: result.providerRequestId };
    });
    const view: ImageView = { created: this.clock.nowSeconds(), data: [{ b64_json: base64 }] };
    response.setHeader(CHARGE_HEADER, formatMicroUsd(price));
    response.json(view);
  }
}
