import assert from 'node:assert/strict';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { routesForQuote } from '../admission/route-choice.js';
import {
  QuotableCalls,
  type QuotedCall,
  type BodyQuote,
} from '../admission/quotes/quotable-calls.js';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { microsOfSeconds } from '../common/time/billable-seconds.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { MediaIntake } from '../media/media-intake.js';
import { UserSuppliedUrls } from '../platform/http-client/user-supplied-urls.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import type { Task } from '../tasks/task.js';
import type { PreparedTask } from '../tasks/submission/task-request.js';
import { TaskSubmission } from '../tasks/submission/task-submission.js';
import { secondsOfSource, billedSource, SOURCE_FIELD } from './dubbing-source.js';
import type { DubbingDetails, DubbingInput } from './dubbing-task.js';
import { DubbingBody } from './dto/dubbing.body.js';
import { SourceStore } from '../tasks/submission/source-store.js';

/** Dubbing (API: POST /v1/audio/dubbing). */
@Injectable()
export class DubbingService implements OnModuleInit {
  constructor(
    private readonly submission: TaskSubmission,
    private readonly intake: MediaIntake,
    private readonly sources: SourceStore,
    private readonly urls: UserSuppliedUrls,
    private readonly gatewayUrl: GatewayUrl,
    private readonly quotable: QuotableCalls,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(DubbingBody);
    this.quotable.register('dubbing', (call, body) => this.quoteOf(call, validator.parse(body)));
  }

  /**
   * Submits a dub of the source, which is downloaded once, by the gateway. Throws what `TaskSubmission.submit` throws,
   * and for the source `invalid_request`, `audio_download_failed`, `audio_too_large`, `unsupported_audio_format`,
   * `media_too_long`.
   */
  dub(
    call: AdmittedCall<'dubbing'>,
    body: DubbingBody,
    idempotencyKey: string | undefined,
  ): Promise<Task> {
    this.checkText(body.source_url);
    const webhook =
      body.webhook === undefined ? undefined : { url: body.webhook, secret: body.webhook_secret };
    return this.submission.submit({ call, kind: 'dubbing', body, idempotencyKey, webhook }, () =>
      this.prepare(call, body),
    );
  }

  private quoteOf(
    call: QuotedCall<'dubbing'>,
    { source_url: url, webhook }: DubbingBody,
  ): BodyQuote {
    const { row, endpoint, durationSeconds } = call;
    this.checkText(url);
    this.submission.checkWebhook(webhook, endpoint);
    const unchecked = this.submission.uncheckedSteps(webhook, true);
    if (durationSeconds === undefined) return { quote: undefined, unchecked };
    const seconds = secondsOfSource(microsOfSeconds(durationSeconds), row.limits.maxSeconds);
    return { quote: quoteOfSeconds(row.price, seconds), unchecked };
  }

  /** Before the key is checked, as for every check of the text of a request (decision G-01). */
  private checkText(sourceUrl: string): void {
    const rejection = this.urls.rejectionOf(sourceUrl);
    if (rejection === undefined) return;
    const message = `${SOURCE_FIELD} ${rejection}.`;
    throw new GatewayError('invalid_request', message, { param: SOURCE_FIELD });
  }

  /** The file that is measured is the file that is kept for the provider (API: POST /v1/audio/dubbing). */
  private prepare(call: AdmittedCall<'dubbing'>, body: DubbingBody): Promise<PreparedTask> {
    const { accountId } = call.caller;
    const source = {
      upload: undefined,
      url: body.source_url,
      urlField: SOURCE_FIELD,
      accountId,
    };
    return this.intake.measure(source, async (recording) => {
      const { media, billedSeconds } = billedSource(recording, body.source_url, call.row.limits);
      const { contentType, filename, path } = media;
      const ownerId = call.executionId;
      const file = await this.sources.keep({ accountId, ownerId, path, contentType });
      const quote = quoteOfSeconds(call.row.price, billedSeconds);
      const [route, ...others] = routesForQuote(call, quote);
      assert(route, 'admitted call has no route');
      return {
        input: inputFor(body, { fileId: file.id, contentType, filename }),
        details: {
          targetLanguage: body.target_language,
          sourceFileId: file.id,
          gatewayUrl: this.gatewayUrl.href,
        } satisfies DubbingDetails,
        quote,
        route,
        others,
        discard: () => this.sources.remove(accountId, file.id),
      };
    });
  }
}

function inputFor(
  body: DubbingBody,
  source: Pick<DubbingInput, 'fileId' | 'contentType' | 'filename'>,
): DubbingInput {
  return {
    ...source,
    targetLanguage: body.target_language,
    sourceLanguage: body.source_language,
    numSpeakers: body.num_speakers,
    highestResolution: body.highest_resolution,
    dropBackgroundAudio: body.drop_background_audio,
  };
}
