import type { JsonObject } from '../../common/json-object.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { fetchedImages, jsonWithImages } from '../http/inline-images.js';
import { openedVideo, orAskAgain } from '../http/opened-video.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { RequestBody } from '../http/request-body.js';
import type { AttemptContext, ProviderErrorKind, RouteTerms } from '../ports/attempt.js';
import type {
  JobFailure,
  MadeWithin,
  VideoCommand,
  VideoContent,
  VideoPort,
  VideoReport,
} from '../ports/job.port.js';
import { keyedUrl, MAX_VENDOR_ANSWER_BYTES } from './vendor-answers.js';
import { failsInBody, isMappedRefusal } from './vendor-errors.js';
import type { VendorKey } from './vendor-key.js';
import { fitsCode, type VendorFile } from './vendor-file.js';
import { targetOf, VendorJobs } from './vendor-jobs.js';
import { lookedUpJob } from './vendor-lookups.js';
import { urlAtPaths } from './vendor-paths.js';
import { clashOf, leftOut, NO_IMAGE, submitOf, untakenFields } from './vendor-submit.js';
import {
  filledTemplate,
  inPath,
  type InlineOf,
  pathWith,
  type VendorValues,
} from './vendor-template.js';

/** Bytes of all images of one request that are sent inline. */
const MAX_INLINE_BYTES = 20 * 1024 * 1024;

/** An answer of another kind is about our key, our rate or the vendor itself, and not about the job. */
const SAYS_NO: readonly ProviderErrorKind[] = ['rejected', 'misconfigured'];

/** Videos at a vendor that its file describes: JSON is submitted, the job is read until it ends, its URL is fetched. */
export class AsyncJsonVideo implements VideoPort {
  private readonly jobs: VendorJobs;

  constructor(
    private readonly http: ProviderHttp,
    private readonly file: VendorFile,
    private readonly key: VendorKey,
    private readonly download: BoundedDownload | undefined,
  ) {
    this.jobs = new VendorJobs(http, file, key);
  }

  lacks(command: VideoCommand, route: RouteTerms): readonly string[] {
    return untakenFields(this.file, valuesOf(command, route), route.terms);
  }

  async submitVideo(command: VideoCommand, context: AttemptContext): Promise<string> {
    const { submit } = this.file;
    const values = valuesOf(command, context);
    const { variant, ...chosen } = submitOf(this.file, values, context.terms);
    if (clashOf(chosen, values, context.terms).length > 0)
      throw this.http.refusal('field_not_taken');
    const body = await this.filled(chosen.body, values, context);
    const path = chosen.path.replaceAll('{model}', () => inPath(context.upstreamModel));
    const request = { ...this.key.sent({ path }), body, timeout: 'submit', context } as const;
    return this.http.requestJson(
      { ...request, method: 'POST' },
      MAX_VENDOR_ANSWER_BYTES,
      (answer) => {
        if (failsInBody(this.file, answer)) return undefined;
        if (submit.read_url !== undefined) {
          const given = keyedUrl(this.file, urlAtPaths(answer, [submit.read_url]));
          // The task keeps it, where no key may stand.
          return given && this.key.takenFrom(given.href);
        }
        return this.jobs.idIn(answer, submit.id ?? 'id', variant);
      },
    );
  }

  get findsBy(): VideoPort['findsBy'] {
    const { lookup } = this.file;
    return lookup && (lookup.reference === undefined ? 'time' : 'reference');
  }

  async findVideo(
    command: VideoCommand,
    context: AttemptContext,
    made?: MadeWithin,
  ): Promise<string | null> {
    const { lookup } = this.file;
    const { reference } = command;
    if (!lookup || reference === undefined) throw this.http.refusal('no_reference');
    const values = valuesOf(command, context);
    const { variant } = submitOf(this.file, values, context.terms);
    const words = { id: '', model: context.upstreamModel, variant: variant ?? '', reference };
    try {
      return await this.jobs.ask({ path: pathWith(lookup.path, words) }, context, (answer) => {
        if (failsInBody(this.file, answer)) return undefined;
        const job = lookedUpJob(lookup, answer, { values, made });
        return job && this.jobs.idIn(job, lookup.id, variant);
      });
    } catch (error) {
      if (!(error instanceof ProviderError) || !SAYS_NO.includes(error.kind)) throw error;
      const { upstreamCode: code } = error;
      if (code !== undefined && lookup.absent.some((form) => fitsCode(form, code))) return null;
      throw error;
    }
  }

  async readVideo(jobId: string, context: AttemptContext): Promise<VideoReport> {
    const { report, answer } = await this.jobs.read(jobId, context);
    if (report.state !== 'succeeded') return report;
    try {
      // What is finished and has no URL is no better at the next poll: the task counts how often.
      const url = await this.jobs.resultUrl(jobId, answer, context);
      return url === undefined ? { state: 'unreadable' } : report;
    } catch (error) {
      // Vendors tell the refusal of a finished job only where its result is asked for.
      if (!(error instanceof ProviderError) || error.kind !== 'rejected') throw error;
      if (!isMappedRefusal(this.file, error))
        return { state: 'pending', progress: report.progress };
      return { state: 'failed', failure: jobFailureOf(error) };
    }
  }

  async openVideo(jobId: string, context: AttemptContext): Promise<VideoContent> {
    const found = this.jobs
      .read(jobId, context)
      .then(({ answer }) => this.jobs.resultUrl(jobId, answer, context));
    const url = (await orAskAgain(found)) ?? this.jobs.unusable();
    const own = this.file.result.with_key ? keyedUrl(this.file, url) : undefined;
    if (!own) return { redirectUrl: this.withoutKey(url) };
    const content = await openedVideo(this.http, { ...this.key.sent(targetOf(own)), context });
    return 'body' in content ? content : { redirectUrl: this.withoutKey(content.redirectUrl) };
  }

  get canCancel(): boolean {
    return this.file.cancel !== undefined;
  }

  cancelVideo(jobId: string, context: AttemptContext): Promise<void> {
    return this.jobs.cancel(jobId, context);
  }

  get canDelete(): boolean {
    return this.file.delete !== undefined;
  }

  deleteVideo(jobId: string, context: AttemptContext): Promise<void> {
    return this.jobs.delete(jobId, context);
  }

  /** The URL as it may be fetched from anywhere. Throws where the vendor wrote the key into it. */
  private withoutKey(url: string): string {
    return this.key.takenFrom(url) ?? this.jobs.unusable();
  }

  private async filled(
    template: JsonObject,
    values: VendorValues,
    context: AttemptContext,
  ): Promise<RequestBody> {
    const urls: string[] = [];
    const { written } = this.filledOrRefused(template, values, (url) => {
      urls.push(url);
      return NO_IMAGE;
    });
    if (leftOut(written, values).length > 0) throw this.http.refusal('field_not_taken');
    const limits = { limitBytes: MAX_INLINE_BYTES, signal: context.signal };
    const images = await fetchedImages(this.download, urls, limits);
    if (!images) throw this.http.refusal('value_not_taken');
    const inline: InlineOf = (url) => images.get(url) ?? NO_IMAGE;
    const { body } = this.filledOrRefused(template, values, inline);
    return jsonWithImages(body, [...images.values()]);
  }

  private filledOrRefused(template: JsonObject, values: VendorValues, inline: InlineOf) {
    try {
      return filledTemplate(template, values, inline);
    } catch {
      throw this.http.refusal('value_not_taken');
    }
  }
}

function jobFailureOf(error: ProviderError): JobFailure {
  const { upstreamCode, upstreamMessage, providerRequestId: requestId, isContentRefusal } = error;
  const told = { code: upstreamCode ?? null, message: upstreamMessage ?? null, requestId };
  return { ...told, ...(isContentRefusal && { isContentRefusal }) };
}

function valuesOf(command: VideoCommand, { upstreamModel }: RouteTerms): VendorValues {
  const { imageUrls = [] } = command;
  return {
    model: upstreamModel,
    prompt: command.prompt,
    seconds: command.seconds,
    size: command.size,
    resolution: command.resolution,
    aspect_ratio: command.aspectRatio,
    audio: command.audio,
    first_frame_url: command.firstFrameUrl,
    last_frame_url: command.lastFrameUrl,
    image_urls: imageUrls.length > 0 ? imageUrls : undefined,
    reference: command.reference,
  };
}
