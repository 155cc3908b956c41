import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { peekStream } from '../common/peek-stream.js';
import { toPublicId } from '../common/ids/public-id.js';
import { Clock } from '../common/time/clock.js';
import { CONTENT_TYPES, sniffFormat } from '../media/duration/sniff.js';
import { BoundedDownload } from '../platform/http-client/bounded-download.js';
import type { VideoContent } from '../providers/ports/job.port.js';
import { type NewFile, UNNAMED_FILE_MS } from '../platform/storage/stored-file.js';
import { StoredFiles } from '../platform/storage/stored-files.js';
import { UnusableFileError } from '../tasks/collect-failure.js';
import type { Task, TaskContent } from '../tasks/task.js';
import { RETENTION_SECONDS } from './video-details.js';

/** Enough bytes to recognise every known format. */
const HEAD_BYTES = 512;
/** They have to arrive within this time. */
const HEAD_MS = 300_000;
/** Largest video that is stored. */
const MAX_VIDEO_BYTES = 2 * 1024 * 1024 * 1024;
/** The file of a redirect has to be read within this time. */
const DOWNLOAD_MS = 900_000;
/** The file is kept a little longer than its retention, which begins when the task has ended. */
const KEPT_MS = (RETENTION_SECONDS + 3_600) * 1_000;

/** Stores finished videos (decisions G-56, G-60). */
@Injectable()
export class VideoFiles {
  constructor(
    private readonly files: StoredFiles,
    private readonly downloads: BoundedDownload,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores what a provider delivered or redirected to. The URL of a redirect has to pass the address guard and gets no
   * key of ours. Throws UnusableFileError if it is no video, and what the download or the store throws.
   */
  async keep(task: Task, content: VideoContent, signal: AbortSignal): Promise<TaskContent> {
    const { body, announcedBytes } =
      'body' in content ? content : { body: await this.follow(content.redirectUrl, signal) };
    try {
      return await this.save(task, { body, announcedBytes }, signal);
    } finally {
      body.destroy();
    }
  }

  private async follow(url: string, signal: AbortSignal): Promise<Readable> {
    const options = { limitBytes: MAX_VIDEO_BYTES, limits: { totalMs: DOWNLOAD_MS }, signal };
    return (await this.downloads.toStream(url, options)).body;
  }

  private async save(
    task: Task,
    { body, announcedBytes }: Pick<NewFile, 'body' | 'announcedBytes'>,
    signal: AbortSignal,
  ): Promise<TaskContent> {
    const format = sniffFormat(await headOf(body));
    const contentType = format && CONTENT_TYPES[format];
    if (!contentType?.startsWith('video/')) {
      throw new UnusableFileError('the file is no video');
    }
    const nowMs = this.clock.nowMs();
    const file = await this.files.save({
      accountId: task.accountId,
      ownerId: task.id,
      contentType,
      body,
      announcedBytes,
      maxBytes: MAX_VIDEO_BYTES,
      expiresAt: new Date(nowMs + UNNAMED_FILE_MS),
      signal,
    });
    return {
      fileId: file.id,
      contentType,
      sizeBytes: file.sizeBytes,
      filename: `${toPublicId('task', task.id)}.${format}`,
      expiresAt: new Date(nowMs + KEPT_MS),
    };
  }
}

async function headOf(body: Readable): Promise<Buffer> {
  const timer = setTimeout(() => body.destroy(new Error('the file does not begin')), HEAD_MS);
  try {
    return await peekStream(body, HEAD_BYTES);
  } finally {
    clearTimeout(timer);
  }
}
