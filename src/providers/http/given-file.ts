import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '../../common/errors/error-table.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { DAY_MS, HOUR_MS } from '../../common/time/spans.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { DownloadFailed } from '../../platform/http-client/download.js';
import { sniffAudio } from './audio-sniff.js';
import { PieceStream } from './piece-stream.js';
import { ProviderError } from './provider-error.js';
import type { ProviderHttp } from './provider-http.js';

/** Half an hour and more at 128 kbit/s. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
/**
 * Each pause in which the file's host sends nothing. A caller may read slowly, which counts for nothing here: the deadline of
 * the call decides, and a day is the longest that it may be.
 */
const FILE_LIMITS = { totalMs: DAY_MS + HOUR_MS, idleMs: 30_000, minBytesPerSecond: 0 };
/** How long and how often it is tried to open a file, which a store may show late; the pauses double. */
const OPENING = { totalMs: 60_000, tries: 8, firstPauseMs: 500, maxPauseMs: 10_000 };
/** Our own words for why there is no file: those of a download may name its host. */
const WORDS: Partial<Readonly<Record<ErrorCode, string>>> = {
  invalid_request: 'file_url_refused',
  audio_too_large: 'file_too_large',
};

/** A file that a provider has made and answered with its URL. */
export interface GivenFile {
  readonly url: string;
  /** Of the answer with the URL. */
  readonly providerRequestId: string | null;
  /** Ends the tries, and the stream. */
  readonly signal: AbortSignal;
}

/** What fetches such files for a provider. */
export interface FileFetcher {
  readonly download: BoundedDownload;
  readonly http: Pick<ProviderHttp, 'lostWork'>;
  readonly opening?: typeof OPENING;
}

/**
 * An MP3 as it arrives, fetched through the guarded dialer and without our key. Its first bytes are there. To open it is tried
 * again after a fault that may pass; nothing is fetched again behind the first bytes. An aborted signal rejects with its reason.
 * Every other failure, of the stream too, is that of work which was made and lost. No error has the URL: it opens the file.
 */
export async function givenMp3(fetcher: FileFetcher, file: GivenFile): Promise<Readable> {
  const { http, opening } = fetcher;
  const { signal, providerRequestId } = file;
  const faultOf = (error: unknown): Error => {
    if (signal.aborted) return signal.reason as Error;
    if (error instanceof ProviderError) return error;
    const word = error instanceof GatewayError ? WORDS[error.code] : undefined;
    return http.lostWork(word ?? 'file_not_fetched', providerRequestId);
  };
  try {
    const open = (withinMs: number) => openedMp3(fetcher, file, withinMs);
    const body = await untilOpened(open, signal, opening);
    if (body === undefined) throw http.lostWork('not_audio', providerRequestId);
    const pieces = withFaults(body as AsyncIterable<Buffer>, faultOf);
    // The code that reads it gets the error.
    return new PieceStream(pieces, body).on('error', () => undefined);
  } catch (error) {
    throw faultOf(error);
  }
}

/**
 * What `open` gives of a file, within a minute. It is tried again after a fault of the download that may pass. Throws any other fault,
 * the last one, or the reason of the signal.
 */
export async function untilOpened<T>(
  open: (withinMs: number) => Promise<T>,
  signal: AbortSignal,
  opening = OPENING,
): Promise<T> {
  const endsAtMs = performance.now() + opening.totalMs;
  let pauseMs = opening.firstPauseMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await open(endsAtMs - performance.now());
    } catch (error) {
      const isLast = tries >= opening.tries || performance.now() + pauseMs >= endsAtMs;
      if (isLast || !(error instanceof DownloadFailed && error.mayPass)) throw error;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
    pauseMs = Math.min(2 * pauseMs, opening.maxPauseMs);
  }
}

/** One try, which ends with its first bytes; undefined where they are no MP3. */
async function openedMp3(
  { download }: FileFetcher,
  file: GivenFile,
  withinMs: number,
): Promise<Readable | undefined> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort(new Error('the file was not opened in time'));
  }, withinMs);
  const signal = AbortSignal.any([file.signal, late.signal]);
  try {
    const options = { limitBytes: MAX_FILE_BYTES, limits: FILE_LIMITS, signal };
    const { body } = await download.toStream(file.url, options);
    if (await sniffAudio(body, 'mp3')) return body;
    body.destroy();
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

async function* withFaults(
  body: AsyncIterable<Buffer>,
  faultOf: (error: unknown) => Error,
): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw faultOf(error);
  }
}
