import assert from 'node:assert/strict';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { routesForQuote } from '../admission/route-choice.js';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import type { ModelRow } from '../catalog/model-row.js';
import { chosenOf, type VideoChoice } from '../catalog/video-choices.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
import { Clock } from '../common/time/clock.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { UserSuppliedUrls } from '../platform/http-client/user-supplied-urls.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import type { VideoCommand } from '../providers/ports/job.port.js';
import type { NamedFile } from '../platform/storage/stored-file.js';
import { StoredFiles } from '../platform/storage/stored-files.js';
import type { PreparedTask } from '../tasks/submission/task-request.js';
import { TaskSubmission } from '../tasks/submission/task-submission.js';
import type { Task } from '../tasks/task.js';
import { VideoBody } from './dto/video.body.js';
import type { VideoDetails } from './video-details.js';
import { checkVideoLimits } from './video-limits.js';
import { VIDEO_KIND } from './video.kind.js';
import { viewVideo } from './video.view.js';

/** Videos: submitted as tasks, read by their ids (API: POST /v1/videos). */
@Injectable()
export class VideosService implements OnModuleInit {
  constructor(
    private readonly submission: TaskSubmission,
    private readonly urls: UserSuppliedUrls,
    private readonly gatewayUrl: GatewayUrl,
    private readonly files: StoredFiles,
    private readonly clock: Clock,
    private readonly quotable: QuotableCalls,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(VideoBody);
    this.quotable.register('video', ({ row, endpoint }, sent) => {
      const body = validator.parse(sent);
      const quote = this.checkText(row, body);
      const { webhook } = body;
      this.submission.checkWebhook(webhook, endpoint);
      const hasImages = imagesOf(body).length > 0;
      return { quote, unchecked: this.submission.uncheckedSteps(webhook, hasImages) };
    });
  }

  /**
   * The task of a submission. Throws 400 `invalid_request` for what the model does not accept and for a webhook or an
   * image that is not public, 402 `insufficient_user_quota`, 409 `idempotency_conflict`.
   */
  async submit(
    call: AdmittedCall<'video'>,
    body: VideoBody,
    idempotencyKey: string | undefined,
  ): Promise<Task> {
    const quote = this.checkText(call.row, body);
    const { webhook: url, webhook_secret: secret } = body;
    const webhook = url === undefined ? undefined : { url, secret };
    const request = { call, kind: VIDEO_KIND, body, idempotencyKey, webhook };
    return this.submission.submit(request, async (): Promise<PreparedTask> => {
      await this.checkImageHosts(body);
      const [route] = routesForQuote(call, quote);
      assert(route, 'admitted call has no route');
      const chosen = chosenOf(call.row.limits, body);
      const details: VideoDetails = {
        seconds: body.seconds,
        size: body.size ?? null,
        ...chosen,
        gatewayUrl: this.gatewayUrl.href,
      };
      return { input: commandOf(body, chosen), details, quote, route };
    });
  }

  /**
   * The file of a video, and its end in epoch seconds. Throws 409 `task_not_ready` before it is completed and when it failed, 410 `content_expired`
   * after 14 days, 404 `content_not_available` when its file was never stored (decision G-60).
   */
  async download(task: Task): Promise<NamedFile & { readonly expiresAt: number }> {
    const { status, expires_at: expiresAt } = viewVideo(task);
    if (status !== 'completed' || expiresAt === null) {
      throw new GatewayError('task_not_ready', `The video is ${status}.`);
    }
    if (task.content === null) {
      throw new GatewayError('content_not_available', 'The video has no file.');
    }
    if (this.clock.nowSeconds() >= expiresAt) {
      throw new GatewayError('content_expired', 'The video is past its 14 days.');
    }
    const { fileId, filename } = task.content;
    return { file: await this.files.kept(task.accountId, fileId), filename, expiresAt };
  }

  /** Whatever can be refused from the text of the body; returns the price. */
  private checkText(row: ModelRow<'video'>, body: VideoBody): Quote {
    const quote = checkVideoLimits(row, body);
    this.checkImageTexts(body);
    return quote;
  }

  private checkImageTexts(body: VideoBody): void {
    for (const image of imagesOf(body)) {
      const rejection = this.urls.rejectionOf(image.url);
      if (rejection !== undefined) throw badImage(image, rejection);
    }
  }

  /** The provider fetches the image, so a host that does not resolve now is accepted. */
  private async checkImageHosts(body: VideoBody): Promise<void> {
    const images = imagesOf(body);
    const hosts = await Promise.all(images.map(({ url }) => this.urls.hostOf(url)));
    const image = images[hosts.indexOf('private')];
    if (image !== undefined) throw badImage(image, 'must point at a public host');
  }
}

/** An image that a request names. */
interface NamedImage {
  readonly url: string;
  readonly field: 'first_frame_url' | 'last_frame_url' | 'image_urls';
  /** The field, with the place in its list. */
  readonly place: string;
}

function imagesOf(body: VideoBody): NamedImage[] {
  const frames = (['first_frame_url', 'last_frame_url'] as const).flatMap((field) => {
    const url = body[field];
    return url === undefined ? [] : [{ url, field, place: field }];
  });
  const references = (body.image_urls ?? []).map((url, index) => {
    return { url, field: 'image_urls' as const, place: `image_urls.${index}` };
  });
  return [...frames, ...references];
}

function commandOf(
  body: VideoBody,
  { resolution, sound }: VideoChoice,
): Readonly<Record<string, unknown>> {
  const command: VideoCommand = {
    prompt: body.prompt,
    seconds: body.seconds,
    size: body.size,
    aspectRatio: body.aspect_ratio,
    resolution,
    audio: sound,
    firstFrameUrl: body.first_frame_url,
    lastFrameUrl: body.last_frame_url,
    imageUrls: body.image_urls,
  };
  return { ...command };
}

function badImage({ field, place }: NamedImage, rejection: string): GatewayError {
  return new GatewayError('invalid_request', `${place} ${rejection}.`, { param: field });
}
