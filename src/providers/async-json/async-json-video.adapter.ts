import { openedVideo, orAskAgain } from '../http/opened-video.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext, ProviderErrorKind, RouteTerms } from '../ports/attempt.js';
import type {
  MadeWithin,
  VideoCommand,
  VideoContent,
  VideoPort,
  VideoReport,
} from '../ports/job.port.js';
import { keyedUrl } from './vendor-answers.js';
import { lookedUpJob } from './vendor-lookups.js';
import { failsInBody } from './vendor-errors.js';
import type { VendorKey } from './vendor-key.js';
import { fitsCode, type VendorFile } from './vendor-file.js';
import { targetOf, type VendorJobs } from './vendor-jobs.js';
import { submitOf, untakenFields } from './vendor-submit.js';
import type { VendorSubmission } from './vendor-submission.js';
import { pathWith, type VendorValues } from './vendor-template.js';

/** An answer of another kind is about our key, our rate or the vendor itself, and not about the job. */
const SAYS_NO: readonly ProviderErrorKind[] = ['rejected', 'misconfigured'];

/** Videos at a vendor that its file describes: JSON is submitted, the job is read until it ends, its URL is fetched. */
export class AsyncJsonVideo implements VideoPort {
  private readonly jobs: VendorJobs;
  private readonly submission: VendorSubmission;

  constructor(
    private readonly http: ProviderHttp,
    private readonly file: VendorFile,
    private readonly key: VendorKey,
    { jobs, submission }: { readonly jobs: VendorJobs; readonly submission: VendorSubmission },
  ) {
    this.jobs = jobs;
    this.submission = submission;
  }

  lacks(command: VideoCommand, route: RouteTerms): readonly string[] {
    return untakenFields(this.file, valuesOf(command, route), route.terms);
  }

  async submitVideo(command: VideoCommand, context: AttemptContext): Promise<string> {
    const { id } = await this.submission.send(valuesOf(command, context), context);
    return id;
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

  readVideo(jobId: string, context: AttemptContext): Promise<VideoReport> {
    return this.jobs.readWithResult(jobId, context);
  }

  async openVideo(jobId: string, context: AttemptContext): Promise<VideoContent> {
    const found = this.jobs
      .read(jobId, context)
      .then(({ answer }) => this.jobs.resultUrls(jobId, answer, context));
    const [url = this.jobs.unusable()] = await orAskAgain(found);
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
