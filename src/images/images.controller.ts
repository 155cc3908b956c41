import { Controller, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { CHARGE_HEADERS, sendCharged } from '../platform/http-server/responses/gateway-headers.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { GeneralEndpoint } from '../admission/call-endpoint.decorators.js';
import { ImageBody } from './dto/image.body.js';
import { ImageView } from './image.view.js';
import { ImagesService } from './images.service.js';

/** Image generation. */
@Controller()
export class ImagesController {
  constructor(private readonly images: ImagesService) {}

  @GeneralEndpoint('image')
  @BodyExamples(ImageBody, {
    image: { model: 'gen-image-2', prompt: 'A lighthouse at night', size: '1024x1024' },
  })
  @ApiOperation({
    summary: 'Image generation',
    description: 'Takes 20 to 60 seconds, seldom two minutes. Charged per image made.',
  })
  @ApiOkResponse({ type: ImageView, headers: CHARGE_HEADERS })
  createImage(
    @Call() call: AdmittedCall<'image'>,
    @StrictBody() body: ImageBody,
    @Res() response: Response,
  ): Promise<void> {
    return sendCharged(response, this.images.generate(call, body));
  }
}
