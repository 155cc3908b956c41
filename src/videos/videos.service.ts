import assert from 'node:assert/strict';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { routesForQuote } from '../admission/route-choice.js';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Clock } from '../common/time/clock.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import type { NamedFile } from '../platform/storage/stored-file.js';
import { StoredFiles } from '../platform/storage/stored-files.js';
import type { PreparedTask } from '../tasks/submission/task-request.js';
import { TaskSubmission } from '../tasks/submission/task-submission.js';
import type { Task } from '../tasks/task.js';
import { VideoBody } from './dto/video.body.js';
import { VideoChecks, videoImagesOf } from './video-checks.js';
import type { VideoDetails } from './video-details.js';
import { VIDEO_KIND } from './video.kind.js';
import { viewVideo } from './video.view.js';

/** Videos: submitted as tasks, read by their ids (API: POST /v1/videos). */
@Injectable()
export class VideosService implements OnModuleInit {
  constructor(
    private readonly submission: TaskSubmission,
    private readonly checks: VideoChecks,
    private readonly gatewayUrl: GatewayUrl,
    private readonly files: StoredFiles,
    private readonly clock: Clock,
    private readonly quotable: QuotableCalls,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(VideoBody);
    this.quotable.register('video', (call, sent) => {
      const body = validator.parse(sent);
      const { quote, command } = this.checks.text(call, body);
      this.checks.routes(call, body, command);
      const { webhook } = body;
      this.submission.checkWebhook(webhook, call.endpoint);
      const hasImages = videoImagesOf(body).length > 0;
      return { quote, unchecked: this.submission.uncheckedSteps(webhook, hasImages) };
    });
  }

  /**
   * The task of a submission. Throws 400 `invalid_request` for what the model or each of its routes does not accept and for a webhook
   * or an image that is not public, 402 `insufficient_user_quota`, 409 `idempotency_conflict`.
   */
  async submit(
    call: AdmittedCall<'video'>,
    body: VideoBody,
    idempotencyKey: string | undefined,
  ): Promise<Task> {
    const { quote, command, chosen } = this.checks.text(call, body);
    const { webhook: url, webhook_secret: secret } = body;
    const webhook = url === undefined ? undefined : { url, secret };
    const request = { call, kind: VIDEO_KIND, body, idempotencyKey, webhook };
    return this.submission.submit(request, async (): Promise<PreparedTask> => {
      const routes = this.checks.routes(call, body, command);
      await this.checks.imageHosts(body);
      const [route, ...others] = routesForQuote({ ...call, routes }, quote);
      assert(route, 'admitted call has no route');
      const details: VideoDetails = {
        seconds: body.seconds,
        size: body.size ?? null,
        ...chosen,
        gatewayUrl: this.gatewayUrl.href,
      };
      return { input: { ...command }, details, quote, route, others };
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
}
