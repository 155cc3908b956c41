import { GatewayError, type GatewayErrorDetail } from '../../common/errors/gateway-error.js';
import type { BodyMeter } from '../http-server/request-body/body-quota.js';
import { Deadline } from './deadline.js';
import { AddressRefusedError, type SsrfSafeDialer } from './ssrf-safe-dialer.js';
import type { RequestLimits, GuardedResponse } from './guarded-exchange.js';
import type { SandboxFiles } from './sandbox-files.js';
import {
  validatePublicUrl,
  resolveLocation,
  type UrlPolicy,
  type UrlVerdict,
} from './public-url.js';

/** Largest downloaded media file, inclusive (decision G-42). */
export const MEDIA_LIMIT_BYTES = 52_428_800;
const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Answers after which the same URL may have the file: it is not there yet, or the server has no room. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([404, 408, 429]);
const REQUEST_HEADERS = { accept: '*/*', 'accept-encoding': 'identity' };

/** Time limits of a whole download with its redirects. The rate is an average and is checked after the grace period. */
interface DownloadLimits extends RequestLimits {
  readonly totalMs: number;
  readonly rateGraceMs: number;
  readonly minBytesPerSecond: number;
}

const DEFAULT_LIMITS: DownloadLimits = {
  connectMs: 5_000,
  headersMs: 10_000,
  idleMs: 10_000,
  totalMs: 60_000,
  rateGraceMs: 10_000,
  minBytesPerSecond: 16_000,
};

/** A URL that could not be downloaded. */
export class DownloadFailed extends GatewayError {
  /** Whether a later try may succeed: after a fault of the network, and after some answers. */
  readonly mayPass: boolean;

  constructor(why: string, { mayPass = false, ...detail }: DownloadFault) {
    super('audio_download_failed', `The URL could not be downloaded: ${why}.`, detail);
    this.mayPass = mayPass;
  }
}

interface DownloadFault extends Pick<GatewayErrorDetail, 'param' | 'cause'> {
  readonly mayPass?: boolean;
}

export interface DownloadOptions {
  /** The largest accepted size, inclusive. */
  readonly limitBytes?: number;
  /** Counts the bytes as they arrive. The error that it returns is thrown. */
  readonly meter?: BodyMeter;
  /** The caller's signal to stop. Its reason is thrown unchanged. */
  readonly signal?: AbortSignal;
  readonly limits?: Partial<DownloadLimits>;
  /** The field that held the URL; the error names it. */
  readonly param?: string;
}

/** One download: call `open`, then `chunks`, and always `close` at the end. Errors are as in `BoundedDownload`. */
export class Download {
  /** Bytes read so far. */
  bytes = 0;
  private readonly limits: DownloadLimits;
  private readonly limitBytes: number;
  private readonly deadline: Deadline;
  private response: GuardedResponse | undefined;

  constructor(
    private readonly dialer: SsrfSafeDialer,
    private readonly policy: UrlPolicy,
    private readonly options: DownloadOptions,
    private readonly sandboxFiles: SandboxFiles | undefined,
  ) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.limitBytes = options.limitBytes ?? MEDIA_LIMIT_BYTES;
    this.deadline = new Deadline(this.limits.totalMs, options.signal);
  }

  /** Follows redirects to the response that contains the media; returns its declared type. */
  async open(text: string): Promise<string | undefined> {
    const verdict = this.validate(text);
    if ('rejection' in verdict) throw this.rejected(verdict.rejection);
    let { url } = verdict;
    try {
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
        this.response = await this.request(url);
        if (!REDIRECT_STATUSES.has(this.response.status)) return this.accept(this.response);
        url = this.follow(this.response, url);
        this.response.close();
      }
    } catch (error) {
      throw this.translate(error);
    }
    throw this.failed('it redirects too often');
  }

  /** The bytes of the body. Checks its size, its pauses, its rate and the total time. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    const startedMs = performance.now();
    try {
      for await (const chunk of this.response?.body ?? []) {
        const { length } = chunk as Buffer;
        this.bytes += length;
        if (this.bytes > this.limitBytes) throw this.tooLarge();
        const rejection = this.options.meter?.add(length);
        if (rejection) throw rejection;
        this.checkRate(performance.now() - startedMs);
        yield chunk as Buffer;
      }
    } catch (error) {
      throw this.translate(error);
    }
    if (this.bytes === 0) throw this.failed('it is empty');
  }

  close(): void {
    this.deadline.clear();
    this.response?.close();
  }

  private validate(text: string | undefined): UrlVerdict {
    return validatePublicUrl(text, { ...this.policy, sandboxFiles: this.sandboxFiles });
  }

  private request(url: URL): Promise<GuardedResponse> {
    const { signal } = this.deadline;
    const request = {
      method: 'GET',
      headers: REQUEST_HEADERS,
      signal,
      limits: this.limits,
    } as const;
    const file = this.sandboxFiles?.fileAt(url);
    return file && this.sandboxFiles
      ? this.sandboxFiles.read(file, request)
      : this.dialer.request(url, request);
  }

  private accept({ status, headers }: GuardedResponse): string | undefined {
    if (status < 200 || status > 299) {
      const mayPass = status >= 500 || PASSING_STATUSES.has(status);
      throw this.failed(`it answered ${status}`, { mayPass });
    }
    // A compressed body could expand beyond every limit, so only the requested identity encoding is accepted.
    // An empty header names no encoding.
    const encoding = String(headers['content-encoding'] ?? '');
    if (!/^(identity)?$/i.test(encoding)) throw this.failed('it is compressed');
    if (Number(headers['content-length'] ?? 0) > this.limitBytes) throw this.tooLarge();
    const type = headers['content-type'];
    return typeof type === 'string' ? type : undefined;
  }

  private follow(response: GuardedResponse, base: URL): URL {
    const { location } = response.headers;
    // A second Location header makes the value an array, and then the target is not certain.
    const target = typeof location === 'string' ? resolveLocation(location, base) : undefined;
    const verdict = this.validate(target);
    if ('rejection' in verdict) throw this.failed('it redirects to an address that is not public');
    if (base.protocol === 'https:' && verdict.url.protocol !== 'https:') {
      throw this.failed('it redirects from https to http');
    }
    return verdict.url;
  }

  private checkRate(elapsedMs: number): void {
    const { rateGraceMs, minBytesPerSecond } = this.limits;
    if (elapsedMs > rateGraceMs && this.bytes * 1_000 < minBytesPerSecond * elapsedMs) {
      throw this.failed('it is too slow');
    }
  }

  /** The error that the caller sees for an error of the network. */
  private translate(error: unknown): unknown {
    if (error instanceof GatewayError) return error;
    if (this.options.signal?.aborted) return this.options.signal.reason;
    if (this.deadline.signal.aborted) return this.failed('it takes too long', { cause: error });
    if (error instanceof AddressRefusedError)
      return this.failed('its host is not public', { cause: error });
    const why = 'its host could not be reached, or closed the connection before the end';
    return this.failed(why, { cause: error, mayPass: true });
  }

  private failed(why: string, fault: DownloadFault = {}): DownloadFailed {
    return new DownloadFailed(why, { param: this.options.param ?? null, ...fault });
  }

  private rejected(rejection: string): GatewayError {
    return this.error('invalid_request', `${this.options.param ?? 'The URL'} ${rejection}.`);
  }

  private tooLarge(): GatewayError {
    return this.error('audio_too_large', `The file is larger than ${this.limitBytes} bytes.`);
  }

  private error(code: 'audio_too_large' | 'invalid_request', message: string): GatewayError {
    return new GatewayError(code, message, { param: this.options.param ?? null });
  }
}
