import type { Readable } from 'node:stream';
import type { JsonObject } from '../../common/json-object.js';
import { isFigure, VENDOR_COST } from '../http/figures.js';
import { jobIdAt } from '../http/json-fields.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { readResponseJson } from '../http/response-body.js';
import type { UpstreamRequest } from '../http/upstream-request.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { JobFailure, VideoReport } from '../ports/job.port.js';
import { keyedUrl, MAX_VENDOR_ANSWER_BYTES, vendorReport } from './vendor-answers.js';
import { blamesRequest, failsInBody, isMappedRefusal } from './vendor-errors.js';
import type { VendorFile, VendorMethod } from './vendor-file.js';
import type { VendorKey } from './vendor-key.js';
import { urlsAtPaths, valueAtPath, wordAtPaths } from './vendor-paths.js';
import { pathWith } from './vendor-template.js';

/** How long the body of an answer to a command may take. */
const COMMAND_BODY_MS = 5_000;
/** Values in the JSON of one answer about jobs, whose bytes are bounded too: objects take far more memory than their text. */
const MAX_ANSWER_VALUES = 200_000;

/** Where a request goes. Its origin may get the key. */
type Target = Pick<UpstreamRequest, 'path' | 'origin'>;

/** The origin and the path of a URL. */
export const targetOf = (url: URL): Target => ({
  origin: url.origin,
  path: url.pathname + url.search,
});

/** The requests about a job that a vendor has, by the id that its task keeps. All throw ProviderError. */
export class VendorJobs {
  constructor(
    private readonly http: ProviderHttp,
    private readonly file: VendorFile,
    private readonly key: VendorKey,
  ) {}

  /** The id of the job at a path of the answer, as its task keeps it; undefined where there is none. */
  idIn(answer: unknown, path: string, variant: string | undefined): string | undefined {
    const id = wordAtPaths(answer, [path]);
    const isFlag = id === 'true' || id === 'false';
    const known = id === null || isFlag ? undefined : jobIdAt({ id }, 'id');
    if (known === undefined) return undefined;
    return this.hasVariants ? `${variant ?? ''}:${known}` : known;
  }

  /** What the vendor says of the job, and its whole answer. */
  async read(jobId: string, context: AttemptContext) {
    const { read } = this.file;
    const target =
      read.path === undefined
        ? this.givenTarget(jobId)
        : { path: this.pathOf(read.path, jobId, context) };
    const told = await this.ask(target, context, (answer, requestId, status) => {
      this.tellCost(answer, context);
      const report = vendorReport(this.file, answer, { requestId, status });
      // Vendors write the reason of a failed job where they write an error.
      const isFailed = report?.state === 'failed';
      if (!report || blamesRequest(this.file, answer)) return undefined;
      if (!isFailed && failsInBody(this.file, answer)) return undefined;
      return { ...report, answer };
    });
    const { answer, ...report } = told;
    return { report, answer };
  }

  /** What the vendor says of the job and, of one that has succeeded, whether its result has URLs. */
  async readWithResult(jobId: string, context: AttemptContext): Promise<VideoReport> {
    const { report, answer } = await this.read(jobId, context);
    if (report.state !== 'succeeded') return report;
    try {
      // What is finished and has no URL is no better at the next poll: whoever asks counts how often.
      const urls = await this.resultUrls(jobId, answer, context);
      return urls.length === 0 ? { state: 'unreadable' } : report;
    } catch (error) {
      // Vendors tell the refusal of a finished job only where its result is asked for.
      if (!(error instanceof ProviderError) || error.kind !== 'rejected') throw error;
      if (!isMappedRefusal(this.file, error))
        return { state: 'pending', progress: report.progress };
      return { state: 'failed', failure: jobFailureOf(error) };
    }
  }

  /** The URLs of what a finished job made; empty where the vendor gives none that can be used. */
  async resultUrls(
    jobId: string,
    answer: JsonObject,
    context: AttemptContext,
  ): Promise<readonly string[]> {
    const { result } = this.file;
    if (!result.request) return urlsAtPaths(answer, result.url);
    const target = this.resultTarget(jobId, answer, context);
    if (!target) return [];
    const { urls } = await this.ask(target, context, (found) =>
      failsInBody(this.file, found) ? undefined : { urls: urlsAtPaths(found, result.url) },
    );
    return urls;
  }

  /**
   * Asks the vendor to stop the job, where its state is read and known as one that is not finished: some vendors delete a finished
   * video with the same request, and it may still be collected.
   */
  async cancel(jobId: string, context: AttemptContext): Promise<void> {
    const { cancel } = this.file;
    if (!cancel) throw this.http.refusal('no_cancel');
    const { report, answer } = await this.read(jobId, context);
    if (report.state !== 'pending' || report.unknownState !== undefined) return;
    const { given, path = '' } = cancel;
    const target =
      given === undefined
        ? { path: this.pathOf(path, jobId, context) }
        : this.givenTarget(valueAtPath(answer, given));
    await this.command(cancel.method, target, context);
  }

  /** Asks the vendor to delete the job and its video. */
  async delete(jobId: string, context: AttemptContext): Promise<void> {
    const { delete: removal } = this.file;
    if (!removal) throw this.http.refusal('no_delete');
    const target = { path: this.pathOf(removal.path, jobId, context) };
    await this.command(removal.method, target, context);
  }

  /** Asks for JSON with the key. `read` returns undefined for an answer that cannot be used. */
  ask<T>(
    target: Target,
    context: AttemptContext,
    read: (answer: JsonObject, requestId: string | null, status: number) => T | undefined,
  ): Promise<T> {
    const request = { ...this.key.sent(target), method: 'GET', timeout: 'poll', context } as const;
    return this.http.requestJson(request, MAX_VENDOR_ANSWER_BYTES, read, MAX_ANSWER_VALUES);
  }

  /** Throws: what the vendor or the file says cannot be used. */
  unusable(): never {
    throw this.http.unusableAnswer('bad_url');
  }

  /** The status of the answer is enough, but where the vendor tells failures in good answers. */
  private async command(
    method: VendorMethod,
    target: Target,
    context: AttemptContext,
  ): Promise<void> {
    const request = { ...this.key.sent(target), method, timeout: 'poll', context } as const;
    if (this.file.errors?.in_body) {
      const limits = { bytes: MAX_VENDOR_ANSWER_BYTES, bodyMs: COMMAND_BODY_MS };
      // An answer without JSON, such as 204, tells no failure.
      const parse = async (body: Readable) => (await readResponseJson(body, limits)) ?? {};
      await this.http.requestParsed(request, parse, (answer) =>
        failsInBody(this.file, answer) ? undefined : {},
      );
    } else {
      const { body } = await this.http.request(request);
      body.on('error', () => undefined).destroy();
    }
  }

  /** What the answer says that the job cost, under a name of its own. */
  private tellCost(answer: JsonObject, { owner }: AttemptContext): void {
    const { cost } = this.file;
    const figure = cost && wordAtPaths(answer, [cost.path]);
    if (figure != null && isFigure(figure)) owner?.onFigures?.({ [VENDOR_COST]: figure });
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

  /** Throws where the URL is of an origin that may not get the key: the file was changed, or the vendor's answer is bad. */
  private givenTarget(text: unknown): Target {
    const url = typeof text === 'string' ? keyedUrl(this.file, text) : undefined;
    return url ? targetOf(url) : this.unusable();
  }

  private pathOf(path: string, jobId: string, { upstreamModel: model }: AttemptContext): string {
    return pathWith(path, { ...this.parted(jobId), model });
  }

  private parted(jobId: string): { readonly id: string; readonly variant: string } {
    const colon = this.hasVariants ? jobId.indexOf(':') : -1;
    return { id: jobId.slice(colon + 1), variant: jobId.slice(0, Math.max(colon, 0)) };
  }

  /** Whether a task keeps the variant before the id: the path of the job needs it. */
  private get hasVariants(): boolean {
    return this.file.read.path?.includes('{variant}') ?? false;
  }
}

function jobFailureOf(error: ProviderError): JobFailure {
  const { upstreamCode, upstreamMessage, providerRequestId: requestId, isContentRefusal } = error;
  const told = { code: upstreamCode ?? null, message: upstreamMessage ?? null, requestId };
  return { ...told, ...(isContentRefusal && { isContentRefusal }) };
}
