import type { JsonObject } from '../../common/json-object.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { isFigure, VENDOR_COST } from '../http/figures.js';
import { fetchedImages, type InlineImage, jsonWithImages } from '../http/inline-images.js';
import { jobIdAt } from '../http/json-fields.js';
import { openedVideo, orAskAgain } from '../http/opened-video.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { RequestBody } from '../http/request-body.js';
import type { UpstreamRequest } from '../http/upstream-request.js';
import type { AttemptContext, ProviderErrorKind } from '../ports/attempt.js';
import type { VideoCommand, VideoContent, VideoPort, VideoReport } from '../ports/job.port.js';
import {
  blamesRequest,
  failsInBody,
  isMappedRefusal,
  keyedUrl,
  MAX_VENDOR_ANSWER_BYTES,
  urlAtPaths,
  valueAtPath,
  vendorReport,
  wordAtPaths,
} from './vendor-answers.js';
import type { VendorKey } from './vendor-key.js';
import { fitsCode, type VendorFile } from './vendor-file.js';
import {
  filledTemplate,
  inPath,
  type InlineOf,
  leftOut,
  pathWith,
  submitOf,
  type VendorValues,
} from './vendor-template.js';

/** Bytes of all images of one request that are sent inline. */
const MAX_INLINE_BYTES = 20 * 1024 * 1024;
/** Stands for an image until it is fetched. */
const NO_IMAGE: InlineImage = { data: Buffer.alloc(0), contentType: 'image/png', token: 'image' };

/** An answer of another kind is about our key, our rate or the vendor itself, and not about the job. */
const SAYS_NO: readonly ProviderErrorKind[] = ['rejected', 'misconfigured'];

type Target = Pick<UpstreamRequest, 'path' | 'origin'>;

/** Videos at a vendor that its file describes: JSON is submitted, the job is read until it ends, its URL is fetched. */
export class AsyncJsonVideo implements VideoPort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly file: VendorFile,
    private readonly key: VendorKey,
    private readonly download: BoundedDownload | undefined,
  ) {}

  async submitVideo(command: VideoCommand, context: AttemptContext): Promise<string> {
    const { submit } = this.file;
    const values = valuesOf(command, context);
    const { variant, ...chosen } = submitOf(this.file, values);
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
        return this.jobIn(answer, submit.id ?? 'id', variant);
      },
    );
  }

  get canFind(): boolean {
    return this.file.lookup !== undefined;
  }

  async findVideo(command: VideoCommand, context: AttemptContext): Promise<string | null> {
    const { lookup } = this.file;
    const { reference } = command;
    if (!lookup || reference === undefined) throw this.http.refusal('no_reference');
    const { variant } = submitOf(this.file, valuesOf(command, context));
    const words = { id: '', model: context.upstreamModel, variant: variant ?? '', reference };
    try {
      return await this.ask({ path: pathWith(lookup.path, words) }, context, (answer) => {
        // A vendor that overlooks the reference gives the job of somebody else.
        if (failsInBody(this.file, answer) || wordAtPaths(answer, [lookup.reference]) !== reference)
          return undefined;
        return this.jobIn(answer, lookup.id, variant);
      });
    } catch (error) {
      if (!(error instanceof ProviderError) || !SAYS_NO.includes(error.kind)) throw error;
      const { upstreamCode: code } = error;
      if (code !== undefined && lookup.absent.some((form) => fitsCode(form, code))) return null;
      throw error;
    }
  }

  private jobIn(answer: JsonObject, path: string, variant: string | undefined): string | undefined {
    const id = wordAtPaths(answer, [path]);
    const isFlag = id === 'true' || id === 'false';
    const known = id === null || isFlag ? undefined : jobIdAt({ id }, 'id');
    return known === undefined ? undefined : this.withVariant(known, variant);
  }

  async readVideo(jobId: string, context: AttemptContext): Promise<VideoReport> {
    const { report, answer } = await this.read(jobId, context);
    if (report.state !== 'succeeded') return report;
    try {
      // What is finished and has no URL is no better at the next poll: the task counts how often.
      const url = await this.resultUrl(jobId, answer, context);
      return url === undefined ? { state: 'unreadable' } : report;
    } catch (error) {
      // Vendors tell the refusal of a finished job only where its result is asked for.
      if (!(error instanceof ProviderError) || error.kind !== 'rejected') throw error;
      if (!isMappedRefusal(this.file, error))
        return { state: 'pending', progress: report.progress };
      const { upstreamCode, upstreamMessage, providerRequestId: requestId } = error;
      const failure = { code: upstreamCode ?? null, message: upstreamMessage ?? null, requestId };
      return { state: 'failed', failure };
    }
  }

  async openVideo(jobId: string, context: AttemptContext): Promise<VideoContent> {
    const found = this.read(jobId, context).then(({ answer }) =>
      this.resultUrl(jobId, answer, context),
    );
    const url = (await orAskAgain(found)) ?? this.unusable();
    const own = this.file.result.with_key ? keyedUrl(this.file, url) : undefined;
    if (!own) return { redirectUrl: this.withoutKey(url) };
    const content = await openedVideo(this.http, { ...this.key.sent(targetOf(own)), context });
    return 'body' in content ? content : { redirectUrl: this.withoutKey(content.redirectUrl) };
  }

  /** The URL as it may be fetched from anywhere. Throws where the vendor wrote the key into it. */
  private withoutKey(url: string): string {
    return this.key.takenFrom(url) ?? this.unusable();
  }

  private read(jobId: string, context: AttemptContext) {
    const { read } = this.file;
    const target =
      read.path === undefined
        ? this.givenTarget(jobId)
        : { path: pathWith(read.path, { ...this.parted(jobId), model: context.upstreamModel }) };
    return this.ask(target, context, (answer, requestId, status) => {
      this.tellCost(answer, context);
      const report = vendorReport(this.file, answer, { requestId, status });
      // Vendors write the reason of a failed job where they write an error.
      const isFailed = report?.state === 'failed';
      if (!report || blamesRequest(this.file, answer)) return undefined;
      if (!isFailed && failsInBody(this.file, answer)) return undefined;
      return { ...report, answer };
    }).then(({ answer, ...report }) => ({ report, answer }));
  }

  /** What the answer says that the job cost, under a name of its own. */
  private tellCost(answer: JsonObject, { owner }: AttemptContext): void {
    const { cost } = this.file;
    const figure = cost && wordAtPaths(answer, [cost.path]);
    if (figure != null && isFigure(figure)) owner?.onFigures?.({ [VENDOR_COST]: figure });
  }

  /** The URL of the finished video; undefined where the vendor gives none that can be used. */
  private async resultUrl(
    jobId: string,
    answer: JsonObject,
    context: AttemptContext,
  ): Promise<string | undefined> {
    const { result } = this.file;
    if (!result.request) return urlAtPaths(answer, result.url);
    const target = this.resultTarget(jobId, answer, context);
    if (!target) return undefined;
    const { url } = await this.ask(target, context, (found) =>
      failsInBody(this.file, found) ? undefined : { url: urlAtPaths(found, result.url) },
    );
    return url;
  }

  private resultTarget(
    jobId: string,
    answer: JsonObject,
    { upstreamModel: model }: AttemptContext,
  ): Target | undefined {
    const { given, path = '', value } = this.file.result.request ?? {};
    if (given !== undefined) {
      const text = valueAtPath(answer, given);
      const url = typeof text === 'string' ? keyedUrl(this.file, text) : undefined;
      return url && targetOf(url);
    }
    const found = value === undefined ? null : wordAtPaths(answer, [value]);
    const word = found === null ? undefined : jobIdAt({ id: found }, 'id');
    if (value !== undefined && word === undefined) return undefined;
    return { path: pathWith(path, { ...this.parted(jobId), model, value: word ?? '' }) };
  }

  private ask<T>(
    target: Target,
    context: AttemptContext,
    read: (answer: JsonObject, requestId: string | null, status: number) => T | undefined,
  ): Promise<T> {
    const request = { ...this.key.sent(target), method: 'GET', timeout: 'poll', context } as const;
    return this.http.requestJson(request, MAX_VENDOR_ANSWER_BYTES, read);
  }

  /** Throws where the URL is of an origin that may not get the key: the file was changed, or the vendor's answer is bad. */
  private givenTarget(text: string): Target {
    const url = keyedUrl(this.file, text);
    return url ? targetOf(url) : this.unusable();
  }

  private unusable(): never {
    throw this.http.unusableAnswer('bad_url');
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

  /** The id that a task keeps: with the variant before it, where the path of the job needs it. */
  private withVariant(id: string, variant: string | undefined): string {
    return this.hasVariants ? `${variant ?? ''}:${id}` : id;
  }

  private parted(jobId: string): { readonly id: string; readonly variant: string } {
    const colon = this.hasVariants ? jobId.indexOf(':') : -1;
    return { id: jobId.slice(colon + 1), variant: jobId.slice(0, Math.max(colon, 0)) };
  }

  private get hasVariants(): boolean {
    return this.file.read.path?.includes('{variant}') ?? false;
  }
}

function valuesOf(command: VideoCommand, { upstreamModel }: AttemptContext): VendorValues {
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

const targetOf = (url: URL): Target => ({ origin: url.origin, path: url.pathname + url.search });
