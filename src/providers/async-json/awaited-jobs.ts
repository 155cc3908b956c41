import { setTimeout as sleep } from 'node:timers/promises';
import type { UnchargedQuantity } from '../../common/money/charge-basis.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { JobFailure } from '../ports/job.port.js';
import { failureKind } from './vendor-errors.js';
import type { VendorFile } from './vendor-file.js';
import type { VendorJobs } from './vendor-jobs.js';
import type { VendorSubmission } from './vendor-submission.js';
import type { VendorValues } from './vendor-template.js';

/** How long is waited before the first question for a job, and at most before a further one. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 3_000;
const GROWTH = 1.5;
/** After so many answers that cannot be used, none is expected. */
const MAX_UNUSABLE = 5;
/** Longest time for all requests that stop a job. */
const CANCEL_MS = 10_000;
const TOO_MANY_REQUESTS = 429;

/** What a job made that was waited for. */
export interface MadeByJob {
  /** At least one. */
  readonly urls: readonly string[];
  readonly requestId: string | null;
}

/**
 * Jobs that a call waits for. Each is submitted once, then asked for until it ends, at the latest when the signal of the call
 * aborts. What fails once the vendor has accepted it is partial: no other route or key is asked. A job that is given up is stopped,
 * where the file says how.
 */
export class AwaitedJobs {
  constructor(
    private readonly http: Pick<ProviderHttp, 'lostWork'>,
    private readonly file: VendorFile,
    private readonly submission: VendorSubmission,
    private readonly jobs: VendorJobs,
  ) {}

  /**
   * Makes the job. Throws ProviderError, or the reason of the signal.
   * @param quantityOf what so many URLs are of, where 0 means that their number is not known: the owner is told once the vendor says
   * that the job has succeeded
   */
  async made(
    values: VendorValues,
    quantityOf: (urls: number) => UnchargedQuantity,
    context: AttemptContext,
  ): Promise<MadeByJob> {
    const { id, requestId } = await this.submission
      .send(values, context)
      .catch((error: unknown) => {
        // A good answer that cannot be read may be that of a job.
        throw isOfGoodAnswer(error) ? partial(error) : error;
      });
    const found = await this.ended(id, context).catch((error: unknown) => {
      this.giveUp(id, context);
      throw partial(error);
    });
    if ('failure' in found) throw partial(this.failed(found.failure));
    const { urls } = found;
    context.owner?.onMade?.(quantityOf(urls.length));
    if (urls.length === 0) throw this.http.lostWork('no_result', requestId);
    return { urls, requestId };
  }

  /** How the job has ended; without URLs where the vendor says that it has succeeded, and not where its result is. */
  private async ended(
    id: string,
    context: AttemptContext,
  ): Promise<{ readonly urls: readonly string[] } | { readonly failure: JobFailure }> {
    let unusable = 0;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * GROWTH, LONGEST_WAIT_MS)) {
      // A sleep that is aborted rejects with an error of its own.
      await sleep(waitMs, undefined, { signal: context.signal }).catch(() => undefined);
      context.signal.throwIfAborted();
      try {
        const { report, urls } = await this.jobs.readWithUrls(id, context);
        if (report.state === 'failed') return { failure: report.failure };
        if (report.state === 'succeeded') return { urls };
        if (report.state === 'unreadable' && (unusable += 1) >= MAX_UNUSABLE) return { urls: [] };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        if (!isPassing(error) && (unusable += 1) >= MAX_UNUSABLE) throw error;
      }
    }
  }

  /** Asks the vendor to stop the job. Nothing waits for it, and its outcome changes nothing. */
  private giveUp(id: string, { upstreamModel, terms }: AttemptContext): void {
    if (!this.file.cancel) return;
    const signal = AbortSignal.timeout(CANCEL_MS);
    this.jobs.cancel(id, { upstreamModel, terms, signal }).catch(() => undefined);
  }

  private failed(failure: JobFailure): ProviderError {
    const { code, message, requestId, isContentRefusal } = failure;
    const told = failureKind(this.file.errors ?? {}, code, message);
    const isRefused = isContentRefusal === true || told === 'rejected';
    return new ProviderError(isRefused ? 'rejected' : 'http_error', {
      provider: this.file.id,
      sent: true,
      upstreamCode: code ?? 'job_failed',
      upstreamMessage: message ?? undefined,
      providerRequestId: requestId,
      isContentRefusal,
    });
  }
}

/** Whether the question may be answered later: it did not arrive, or the vendor is busy or down. */
const isPassing = ({ upstreamStatus: status, kind }: ProviderError): boolean =>
  status === undefined ||
  status === TOO_MANY_REQUESTS ||
  status >= 500 ||
  kind === 'rate_limited' ||
  kind === 'unavailable';

const isOfGoodAnswer = (error: unknown): boolean =>
  error instanceof ProviderError &&
  error.kind === 'http_error' &&
  (error.upstreamStatus ?? 0) >= 200 &&
  (error.upstreamStatus ?? 0) < 300;

function partial(error: unknown): unknown {
  if (error instanceof ProviderError) error.isPartial = true;
  return error;
}
