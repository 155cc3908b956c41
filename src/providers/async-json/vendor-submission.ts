import type { JsonObject } from '../../common/json-object.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { fetchedImages, jsonWithImages } from '../http/inline-images.js';
import { asRequestId } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { RequestBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import { keyedUrl, MAX_VENDOR_ANSWER_BYTES } from './vendor-answers.js';
import { failsInBody } from './vendor-errors.js';
import type { VendorFile } from './vendor-file.js';
import type { VendorJobs } from './vendor-jobs.js';
import type { VendorKey } from './vendor-key.js';
import { urlsAtPaths } from './vendor-paths.js';
import { clashOf, leftOut, NO_IMAGE, submitOf } from './vendor-submit.js';
import { filledTemplate, inPath, type InlineOf, type VendorValues } from './vendor-template.js';

/** Bytes of all images of one request that are sent inline. */
const MAX_INLINE_BYTES = 20 * 1024 * 1024;

/** A job that a vendor has accepted. */
export interface SubmittedJob {
  /** As its task keeps it. */
  readonly id: string;
  /** Of the request, or else the vendor's id of the job. */
  readonly providerRequestId: string | null;
}

/** Submits the jobs of a vendor: the body of its file is filled with the values of a request. */
export class VendorSubmission {
  constructor(
    private readonly http: ProviderHttp,
    private readonly file: VendorFile,
    private readonly key: VendorKey,
    private readonly jobs: VendorJobs,
    private readonly download: BoundedDownload | undefined,
  ) {}

  /** Sends the job once. Throws ProviderError: `rejected`, and nothing is sent, for values that the file does not take. */
  async send(values: VendorValues, context: AttemptContext): Promise<SubmittedJob> {
    const { submit } = this.file;
    const { variant, ...chosen } = submitOf(this.file, values, context.terms);
    if (clashOf(chosen, values, context.terms).length > 0)
      throw this.http.refusal('field_not_taken');
    const body = await this.filled(chosen.body, values, context);
    const path = chosen.path.replaceAll('{model}', () => inPath(context.upstreamModel));
    const request = { ...this.key.sent({ path }), body, timeout: 'submit', context } as const;
    return this.http.requestJson(
      { ...request, method: 'POST' },
      MAX_VENDOR_ANSWER_BYTES,
      (answer, requestId) => {
        if (failsInBody(this.file, answer)) return undefined;
        const id =
          submit.read_url === undefined
            ? this.jobs.idIn(answer, submit.id ?? 'id', variant)
            : this.givenUrl(answer, submit.read_url);
        if (id === undefined) return undefined;
        // A URL is no id: it may open the result.
        const ownId = submit.read_url === undefined ? asRequestId(id) : null;
        return { id, providerRequestId: requestId ?? ownId };
      },
    );
  }

  /** The URL of the job without the key: the task keeps it, where no key may stand. */
  private givenUrl(answer: JsonObject, path: string): string | undefined {
    const given = keyedUrl(this.file, urlsAtPaths(answer, [path])[0]);
    return given && this.key.takenFrom(given.href);
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
    const [missing] = leftOut(written, values);
    if (missing !== undefined) throw this.http.refusal('field_not_taken', 'rejected', missing);
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
