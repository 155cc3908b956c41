import { setTimeout as sleep } from 'node:timers/promises';
import type { UnchargedQuantity } from '../../common/money/charge-basis.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { JobFailure } from '../ports/job.port.js';
import { failureKind, isMappedRefusal } from './vendor-errors.js';
import type { VendorFile } from './vendor-file.js';
import type { VendorJobs } from './vendor-jobs.js';
import type { VendorSubmission } from './vendor-submission.js';
import type { VendorValues } from './vendor-template.js';

/** How long is waited before the first question for a job, and at most before a further one. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 3_000;
const GROWTH = 1.5;
/** Each wait differs by so much of itself, so that jobs which began together are not asked for together. */
const JITTER = 0.2;
/** More is not waited where the vendor says how long. */
const LONGEST_RETRY_AFTER_MS = 60_000;
/** After so many answers that cannot be used, none is expected. */
const MAX_UNUSABLE = 5;
/** So often a vendor may fail to give the result of a job that has succeeded, or refuse it without a word that its file knows. */
const MAX_RESULT_FAULTS = 10;
/** Longest time for all requests that stop a job. */
const CANCEL_MS = 10_000;
const TOO_MANY_REQUESTS = 429;

/** What a job made that was waited for. */
export interface MadeByJob {
  /** At least one. */
  readonly urls: readonly string[];
  readonly requestId: string | null;
}

/** How a job has ended. Without URLs the vendor says that it has succeeded, and not where its result is. */
type Ended = { readonly urls: readonly string[] } | { readonly failed: ProviderError };
/** An answer to a question for a job that tells nothing of it. */
interface PollFault {
  readonly fault: ProviderError;
  /** Whether it is about the result of a job that has succeeded. */
  readonly isOfResult: boolean;
}

/**
 * Jobs that a call waits for. Each is submitted once, then asked for until it ends, at the latest when the signal of the call
 * aborts, or after the timeout of the operation. What fails once the vendor has accepted the job is partial: no other route or key
 * is asked. A job that is given up is stopped, where the file says how.
 */
export class AwaitedJobs {
  constructor(
    private readonly http: Pick<ProviderHttp, 'lostWork' | 'timeoutOf'>,
    private readonly file: VendorFile,
    private readonly submission: VendorSubmission,
    private readonly jobs: VendorJobs,
    private readonly timeout: 'image' | 'composition',
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
    const { id, providerRequestId: requestId } = await this.submission
      .send(values, context)
      .catch((error: unknown) => {
        // An answer that is lost, and a good one that cannot be read, may be that of a job.
        throw mayBeOfJob(error) ? partial(error) : error;
      });
    const found = await this.inTime(id, requestId, context).catch((error: unknown) => {
      this.giveUp(id, context);
      throw partial(error);
    });
    if ('failed' in found) throw partial(found.failed);
    // The same URL twice is one file.
    const urls = [...new Set(found.urls)];
    context.owner?.onMade?.(quantityOf(urls.length));
    if (urls.length === 0) throw this.http.lostWork('no_result', requestId);
    return { urls, requestId };
  }

  /** How the job has ended. Throws a ProviderError `timeout` where it has not within the timeout of the operation. */
  private async inTime(
    id: string,
    providerRequestId: string | null,
    context: AttemptContext,
  ): Promise<Ended> {
    const { headMs: waitMs } = this.http.timeoutOf({ timeout: this.timeout, context });
    const late = new AbortController();
    const timer = setTimeout(() => {
      const detail = { provider: this.file.id, sent: true, providerRequestId };
      late.abort(new ProviderError('timeout', { ...detail, upstreamCode: 'job_timeout' }));
    }, waitMs);
    try {
      const signal = AbortSignal.any([context.signal, late.signal]);
      return await this.ended(id, { ...context, signal });
    } finally {
      clearTimeout(timer);
    }
  }

  private async ended(id: string, context: AttemptContext): Promise<Ended> {
    let unusable = 0;
    let resultFaults = 0;
    let leastMs = 0;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * GROWTH, LONGEST_WAIT_MS)) {
      // A sleep that is aborted rejects with an error of its own.
      const pauseMs = Math.max(jittered(waitMs), leastMs);
      await sleep(pauseMs, undefined, { signal: context.signal }).catch(() => undefined);
      context.signal.throwIfAborted();
      const told = await this.ask(id, context);
      leastMs = leastWaitMs(told);
      if (told === undefined) continue;
      if ('failed' in told) return told;
      if ('urls' in told) {
        if (told.urls.length > 0 || (unusable += 1) >= MAX_UNUSABLE) return told;
      } else if (isResultFault(told)) {
        if ((resultFaults += 1) >= MAX_RESULT_FAULTS) throw told.fault;
      } else if (!isPassing(told.fault) && (unusable += 1) >= MAX_UNUSABLE) throw told.fault;
    }
  }

  /** One question; undefined while the job is not finished. */
  private async ask(id: string, context: AttemptContext): Promise<Ended | PollFault | undefined> {
    let isOfResult = false;
    try {
      const { report, answer } = await this.jobs.read(id, context);
      if (report.state === 'failed') return { failed: this.failed(report.failure) };
      if (report.state !== 'succeeded') return undefined;
      isOfResult = true;
      return { urls: await this.jobs.resultUrls(id, answer, context) };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const isRefusal = error.kind === 'rejected' && isMappedRefusal(this.file, error);
      // Vendors tell the refusal of a finished job only where its result is asked for.
      return isOfResult && isRefusal ? { failed: error } : { fault: error, isOfResult };
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

const jittered = (ms: number): number => ms * (1 - JITTER + 2 * JITTER * Math.random());

/** How long the vendor wants not to be asked again. */
function leastWaitMs(told: Ended | PollFault | undefined): number {
  const seconds = told && 'fault' in told ? (told.fault.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds * 1_000, LONGEST_RETRY_AFTER_MS);
}

/** Whether the question may be answered later: it did not arrive, or the vendor is busy or down. */
const isPassing = ({ upstreamStatus: status, kind }: ProviderError): boolean =>
  status === undefined ||
  status === TOO_MANY_REQUESTS ||
  status >= 500 ||
  kind === 'rate_limited' ||
  kind === 'unavailable';

/** Whether the result itself is what the vendor fails to give. A refusal that its file does not map may have come too early. */
const isResultFault = ({ fault, isOfResult }: PollFault): boolean =>
  isOfResult && (fault.kind === 'rejected' || (fault.upstreamStatus ?? 0) >= 500);

function mayBeOfJob(error: unknown): boolean {
  if (!(error instanceof ProviderError) || !error.sent) return false;
  const { kind, upstreamStatus: status } = error;
  return status === undefined || (kind === 'http_error' && status >= 200 && status < 300);
}

function partial(error: unknown): unknown {
  if (error instanceof ProviderError) error.isPartial = true;
  return error;
}
