import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { MediaLimits } from '../catalog/model-row.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { callerLeftSignal } from '../platform/http-server/connections/caller-left-signal.js';
import { billableSeconds } from '../common/time/billable-seconds.js';
import { BoundedDownload } from '../platform/http-client/bounded-download.js';
import type { DownloadOptions } from '../platform/http-client/download.js';
import type { MediaFile } from '../providers/ports/audio.port.js';
import { CONTENT_TYPES } from './duration/sniff.js';
import type { MediaDuration } from './duration/media-duration.js';
import { measureMediaDuration } from './duration/duration-pool.js';
import { diskError, TempFolder } from './temp-folder.js';
import { Spool, type SpooledFile } from './spool.js';
import type { Upload } from './upload.js';

/** The field of a body that names a recording by URL. */
export const URL_FIELD = 'audio_url';

/** The source of a recording; exactly one of the two has to be given. */
export interface MediaSource {
  readonly upload: Upload | undefined;
  readonly url: string | undefined;
  /** The account whose disk quota and measuring queue are used. */
  readonly accountId: string;
  /** The response to the caller, for {@link MediaIntake.use}. */
  readonly response?: ServerResponse | undefined;
  /** The field that holds the URL; {@link URL_FIELD} by default. */
  readonly urlField?: string;
}

/** A file on disk and its measured length. The endpoint decides whether it is too long. */
export interface MeasuredMedia {
  readonly media: MediaFile;
  readonly length: MediaDuration;
  /** The field it came in, for errors. */
  readonly param: string;
}

/** A recording on disk, measured. */
export interface Recording {
  readonly media: MediaFile;
  /** Duration counted from the codec frames, to the microsecond. */
  readonly seconds: number;
  /** Whole seconds that are billed (decision G-18). */
  readonly billedSeconds: bigint;
}

interface Input {
  readonly file: SpooledFile;
  /** The field it came in, for errors. */
  readonly param: string;
}

/** Stores the caller's recording on disk, measures it, and always removes it again. */
@Injectable()
export class MediaIntake {
  constructor(
    private readonly folder: TempFolder,
    private readonly downloads: BoundedDownload,
    private readonly spool: Spool,
  ) {}

  /**
   * Runs the work with the recording; the file exists as long as the work runs. A download is aborted when its client
   * disconnects, because there is no hold yet and nobody would receive the response. Throws before the work begins:
   * `invalid_request` for both inputs or for a URL that is not allowed, `audio_input_required` for no input,
   * `audio_download_failed`, `audio_too_large`, the errors of the spool, `unsupported_audio_format`, `audio_too_long`,
   * `audio_too_short` (API: Recordings; decisions G-19, G-41 to G-44).
   */
  async use<T>(
    source: MediaSource,
    limits: MediaLimits,
    work: (recording: Recording) => Promise<T>,
  ): Promise<T> {
    const { url, response } = source;
    const isWatched = url !== undefined && response !== undefined;
    const signal = isWatched ? callerLeftSignal(response, leftEarly) : undefined;
    return this.measure(source, (media) => work(recordingOf(media, limits)), signal);
  }

  /**
   * As `use`, for endpoints with their own limits: no duration is rejected. Without `signal` a download continues when
   * its client disconnects, because a task is still useful then.
   */
  async measure<T>(
    source: MediaSource,
    work: (measured: MeasuredMedia) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const input = await this.inputOf(source, signal);
    try {
      return await work(await measured(input, source.accountId));
    } finally {
      await input.file.remove();
    }
  }

  private async inputOf(source: MediaSource, signal?: AbortSignal): Promise<Input> {
    const { upload, url, accountId, urlField: param = URL_FIELD } = source;
    checkInput(upload !== undefined, url, param);
    if (upload) return { file: upload.take(), param: 'file' };
    return {
      file: await this.download(url ?? '', accountId, { param, ...(signal && { signal }) }),
      param,
    };
  }

  private async download(
    url: string,
    accountId: string,
    options: DownloadOptions,
  ): Promise<SpooledFile> {
    const reservation = this.spool.open(accountId);
    try {
      const metered = { ...options, meter: reservation };
      const { path, bytes } = await this.downloads.toFile(url, this.folder.path, metered);
      return reservation.filled(path, bytes);
    } catch (error) {
      reservation.free();
      throw diskError(error);
    }
  }
}

/** Throws `invalid_request` for a file and a URL, and `audio_input_required` for neither. */
export function checkInput(hasFile: boolean, url: string | undefined, param: string): void {
  if (hasFile && url !== undefined) {
    const message = `Send file or ${param}, not both.`;
    throw new GatewayError('invalid_request', message, { param });
  }
  if (!hasFile && url === undefined) {
    throw new GatewayError('audio_input_required', `Send a file or an ${param}.`);
  }
}

const leftEarly = (): GatewayError =>
  new GatewayError('audio_download_failed', 'The caller left before the download was complete.');

async function measured({ file, param }: Input, accountId: string): Promise<MeasuredMedia> {
  const { path, sizeBytes } = file;
  const length = await measureMediaDuration(path, accountId).catch((error: unknown) => {
    throw naming(error, param);
  });
  const { format } = length;
  const filename = `audio.${format}`;
  const media = { path, sizeBytes, filename, contentType: CONTENT_TYPES[format] };
  return { media, length, param };
}

/** The file as a recording within the limits. Throws `audio_too_long`, `audio_too_short`. */
function recordingOf({ media, length, param }: MeasuredMedia, limits: MediaLimits): Recording {
  const { durationMicros } = length;
  const billedSeconds = billedSecondsOf(durationMicros, limits, param);
  return { media, seconds: Number(durationMicros) / 1_000_000, billedSeconds };
}

/**
 * The seconds that are billed for a recording of this length. Throws `audio_too_long`, `audio_too_short` that name `param`,
 * the field with the recording (decisions G-18, G-19).
 */
export function billedSecondsOf(
  durationMicros: bigint,
  { maxSeconds, minMicros = 0 }: MediaLimits,
  param: string,
): bigint {
  const billedSeconds = billableSeconds(durationMicros);
  if (billedSeconds > BigInt(maxSeconds)) {
    const message = `The recording is longer than ${maxSeconds} seconds.`;
    throw new GatewayError('audio_too_long', message, { param });
  }
  if (durationMicros < BigInt(minMicros)) {
    const message = `The recording is shorter than ${minMicros / 1_000_000} seconds.`;
    throw new GatewayError('audio_too_short', message, { param });
  }
  return billedSeconds;
}

/** Adds the name of the field to an error about the file. */
function naming(error: unknown, param: string): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'unsupported_audio_format') return error;
  return new GatewayError(error.code, error.message, { param, cause: error });
}
