import { Controller, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { KEY_HEADERS } from '../platform/http-server/responses/answer-copy.js';
import { CHARGE_HEADERS } from '../platform/http-server/responses/gateway-headers.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { GeneralEndpointAs } from '../admission/call-endpoint.decorators.js';
import { Deferrable, DEFERRABLE, DEFERRED_CODES } from '../tasks/deferred/deferrable.decorator.js';
import { IMAGE_EDITS } from '../catalog/operations.js';
import { ImageBody, ImageEditBody } from './dto/image.body.js';
import { EditingModelGuard, ImageFormGuard } from './image-edits.js';
import { ImageUpload, UploadedImages } from './image-upload.js';
import { ImageView } from './image.view.js';
import { ImagesService } from './images.service.js';

/** Image generation. */
@Controller()
export class ImagesController {
  constructor(private readonly images: ImagesService) {}

  @GeneralEndpointAs('image', { ...DEFERRABLE, codes: DEFERRED_CODES })
  @Deferrable()
  @BodyExamples(ImageBody, {
    image: { model: 'gen-image-2', prompt: 'A lighthouse at night', size: '1024x1024' },
  })
  @ApiOperation({
    summary: 'Image generation',
    description: 'Takes 20 to 60 seconds, seldom two minutes. Charged per image made.',
  })
  @ApiOkResponse({ type: ImageView, headers: { ...CHARGE_HEADERS, ...KEY_HEADERS } })
  createImage(
    @Call() call: AdmittedCall<'image'>,
    @StrictBody() body: ImageBody,
    @Res() response: Response,
  ): Promise<void> {
    return this.images.generate(call, body, response);
  }

  @GeneralEndpointAs('image', {
    ...DEFERRABLE,
    path: IMAGE_EDITS.path,
    bodyGuard: ImageFormGuard,
    furtherGuards: [EditingModelGuard],
    codes: ['invalid_multipart', ...DEFERRED_CODES],
  })
  @ApiConsumes('multipart/form-data')
  @Deferrable()
  @ApiBody({
    type: ImageEditBody,
    examples: { 'one image': { value: { model: 'gen-image-edit-demo', prompt: 'At night' } } },
  })
  @ApiOperation({
    summary: 'Image edits',
    description:
      'Images made of other images, by the models with the endpoint type `image-edits`. Takes a form alone. Charged per image made.',
  })
  @ApiOkResponse({ type: ImageView, headers: { ...CHARGE_HEADERS, ...KEY_HEADERS } })
  createImageEdit(
    @Call() call: AdmittedCall<'image'>,
    @StrictBody() body: ImageEditBody,
    @UploadedImages() upload: ImageUpload,
    @Res() response: Response,
  ): Promise<void> {
    return this.images.edit(call, body, upload, response);
  }
}
