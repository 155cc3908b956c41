import { rm } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import type { MediaLimits } from '../catalog/model-row.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { billableSeconds } from '../common/time/billable-seconds.js';
import { BoundedDownload } from '../net/bounded-download.js';
import type { MediaFile } from '../providers/ports/media-file.js';
import { CONTENT_TYPES } from './content-types.js';
import { measureMediaLength } from './length/length-pool.js';
import { ScratchFolder } from './scratch-folder.js';
import type { Upload } from './upload.js';

/** The field of a body that names a recording by URL. */
export const URL_FIELD = 'audio_url';

/** Where a recording comes from: exactly one of both is to be given. */
export interface MediaSource {
  readonly upload: Upload | undefined;
  readonly url: string | undefined;
}

/** A recording on disk, measured. */
export interface Recording {
  readonly media: MediaFile;
  /** Length counted from the codec frames, to the microsecond. */
  readonly seconds: number;
  /** Whole seconds that are billed (decision G-18). */
  readonly billedSeconds: bigint;
}

interface SpooledFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** The field it came in, for errors. */
  readonly param: string;
}

/** Brings the caller's recording to disk, measures it, and removes it again whatever happens. */
@Injectable()
export class MediaIntake {
  constructor(
    private readonly folder: ScratchFolder,
    private readonly downloads: BoundedDownload,
  ) {}

  /**
   * Does the work with the recording at hand; the file lasts as long as the work. Throws before the work begins:
   * `invalid_request` for both inputs or a URL refused by its text, `audio_input_required` for none,
   * `audio_download_failed`, `audio_too_large`, `unsupported_audio_format`, `audio_too_long`, `audio_too_short`
   * (spec: shared audio rules, 4 to 7; decisions G-19, G-41 to G-44).
   */
  async use<T>(
    source: MediaSource,
    limits: MediaLimits,
    work: (recording: Recording) => Promise<T>,
  ): Promise<T> {
    const file = await this.spool(source);
    try {
      return await work(await measured(file, limits));
    } finally {
      await rm(file.path, { force: true });
    }
  }

  private async spool({ upload, url }: MediaSource): Promise<SpooledFile> {
    if (upload && url !== undefined) {
      const message = 'Send file or audio_url, not both.';
      throw new GatewayError('invalid_request', message, { param: URL_FIELD });
    }
    if (upload) return { path: upload.take(), sizeBytes: upload.sizeBytes, param: 'file' };
    if (url === undefined) {
      throw new GatewayError('audio_input_required', 'Send a file or an audio_url.');
    }
    const { path, bytes } = await this.downloads.toFile(url, this.folder.path, {
      param: URL_FIELD,
    });
    return { path, sizeBytes: bytes, param: URL_FIELD };
  }
}

async function measured(
  { path, sizeBytes, param }: SpooledFile,
  { maxSeconds, minMicros = 0 }: MediaLimits,
): Promise<Recording> {
  const { format, lengthMicros } = await measureMediaLength(path);
  const billedSeconds = billableSeconds(lengthMicros);
  if (billedSeconds > BigInt(maxSeconds)) {
    const message = `The recording is longer than ${maxSeconds} seconds.`;
    throw new GatewayError('audio_too_long', message, { param });
  }
  if (lengthMicros < BigInt(minMicros)) {
    const message = `The recording is shorter than ${minMicros / 1_000_000} seconds.`;
    throw new GatewayError('audio_too_short', message, { param });
  }
  const media = {
    path,
    sizeBytes,
    filename: `audio.${format}`,
    contentType: CONTENT_TYPES[format],
  };
  return { media, seconds: Number(lengthMicros) / 1_000_000, billedSeconds };
}
