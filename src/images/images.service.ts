import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Response } from 'express';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { IMAGE_EDITS } from '../catalog/operations.js';
import { Clock } from '../common/time/clock.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import {
  type Charged,
  JSON_ANSWER_TYPE,
  sendCharged,
} from '../platform/http-server/responses/gateway-headers.js';
import type { AttemptContext } from '../providers/ports/attempt.js';
import type {
  ImageEditCommand,
  ImagePort,
  ImageResult,
  ImageWishes,
} from '../providers/ports/image.port.js';
import type { CallOrder, DeferredRun, MadeFile, Ordered } from '../tasks/deferred/call-order.js';
import { DeferredCalls } from '../tasks/deferred/deferred-calls.js';
import { type ImageBody, ImageEditBody, ImageFields } from './dto/image.body.js';
import { ImageBytes } from './image-bytes.js';
import { checkEditable, checkImages } from './image-edits.js';
import { type ImageOrder, imageOrderOf } from './image-order.js';
import type { ImageUpload } from './image-upload.js';
import type { ImageView } from './image.view.js';

/** Images from a text and from other images (API: POST /v1/images/generations, POST /v1/images/edits). */
@Injectable()
export class ImagesService implements OnModuleInit {
  constructor(
    private readonly calls: PaidCalls,
    private readonly bytes: ImageBytes,
    private readonly clock: Clock,
    private readonly quotable: QuotableCalls,
    private readonly deferred: DeferredCalls,
  ) {}

  onModuleInit(): void {
    const make = (run: DeferredRun<'image', WantedImages>) => this.fileOf(run);
    this.deferred.register({ operation: 'image', modality: 'image', make });
    const ofText = validatorOf(ImageFields);
    this.quotable.register('image', ({ row }, body) => {
      const order = imageOrderOf(row, ofText.parse(body));
      return { quote: order.quoteFor(order.count), unchecked: [] };
    });
    const ofImages = validatorOf(ImageEditBody);
    this.quotable.register(
      'image',
      ({ row }, body) => {
        checkEditable(row);
        const order = imageOrderOf(row, ofImages.parse(body));
        return { quote: order.quoteFor(order.count), unchecked: ['media'] };
      },
      IMAGE_EDITS.path,
    );
  }

  /**
   * Sends the images in base64 once their charge is durable: what was made is charged, and without an image there is no
   * charge (decision G-32). Throws 400 for what the model does not list, 402 `insufficient_user_quota`, and the provider's
   * failures.
   */
  async generate(call: AdmittedCall<'image'>, body: ImageBody, response: Response): Promise<void> {
    const order = imageOrderOf(call.row, body);
    return this.make(call, body, (work) => work(orderWith(order, order.wishes)), response);
  }

  /** As {@link generate}, of the images of a form, which are removed at the end. Throws 400 where there is none, or too many. */
  async edit(
    call: AdmittedCall<'image'>,
    body: ImageEditBody,
    upload: ImageUpload,
    response: Response,
  ): Promise<void> {
    const order = imageOrderOf(call.row, body);
    checkImages(call.row, upload);
    const { images, mask } = upload;
    const command = { ...order.wishes, images, mask };
    const ordered: Ordered<WantedImages> = (work) =>
      upload.during(() => work(orderWith(order, command)));
    return this.make(call, body, ordered, response);
  }

  private async make(
    call: AdmittedCall<'image'>,
    body: object,
    ordered: Ordered<WantedImages>,
    response: Response,
  ): Promise<void> {
    if (call.deferral) return this.deferred.submit(call, body, ordered, response);
    return sendCharged(
      response,
      ordered((order) => this.makeNow(call, order)),
    );
  }

  private async makeNow(
    call: AdmittedCall<'image'>,
    { quote, quotes = [quote], command }: CallOrder<WantedImages>,
  ): Promise<Charged<ImageView>> {
    await using paid = await this.calls.start(call, quote);
    const { provider, result } = await paid.attempt((port, context) => ask(port, command, context));
    const made = await paid.orRelease(this.bytes.base64Of(provider, result, paid.signal));
    const { amountMicroUsd: chargedMicroUsd, basis } = quotes[made.length - 1] ?? quote;
    const charge = { chargedMicroUsd, ...(basis && { basis }) };
    return { value: this.viewOf(made), chargedMicroUsd: await paid.settle(charge) };
  }

  private async fileOf({
    command,
    provider,
    signal,
    attempt,
  }: DeferredRun<'image', WantedImages>): Promise<MadeFile> {
    const result = await attempt((port, context) => ask(port, command, context));
    const made = await this.bytes.base64Of(provider, result, signal);
    const body = Buffer.from(JSON.stringify(this.viewOf(made)));
    const pieces = made.length;
    const { providerRequestId } = result;
    return { body, contentType: JSON_ANSWER_TYPE, extension: 'json', pieces, providerRequestId };
  }

  private viewOf(made: readonly string[]): ImageView {
    const data = made.map((base64) => ({ b64_json: base64 }));
    return { created: this.clock.nowSeconds(), data };
  }
}

/** Images from a text, or from other images where there are any. */
type WantedImages = ImageWishes & Partial<Pick<ImageEditCommand, 'images' | 'mask'>>;

function ask(
  port: ImagePort,
  { images, ...wishes }: WantedImages,
  context: AttemptContext,
): Promise<ImageResult> {
  return images
    ? port.editImage({ ...wishes, images }, context)
    : port.generateImage(wishes, context);
}

function orderWith(
  { count, quoteFor }: ImageOrder,
  command: WantedImages,
): CallOrder<WantedImages> {
  const quotes = Array.from({ length: count }, (_, index) => quoteFor(index + 1));
  return { quote: quoteFor(count), quotes, command };
}
