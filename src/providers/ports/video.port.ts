import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt-context.js';
import type { FailedJob, PendingJob } from './job-failure.js';

/** A video to generate. The provider decides absent fields. */
export interface VideoCommand {
  readonly prompt: string;
  /** Duration in seconds, as in the catalog row of the model. */
  readonly seconds: string;
  /** `<width>x<height>`. */
  readonly size?: string | undefined;
  /** `<width>:<height>`. */
  readonly aspectRatio?: string | undefined;
  /** Reference images. The provider fetches them itself. */
  readonly imageUrls?: readonly string[] | undefined;
}

/** The state of a video at the provider. */
export type VideoReport =
  PendingJob | { readonly state: 'succeeded'; readonly progress: number | null } | FailedJob;

/** A finished video: its bytes, or the URL to which the provider redirects us. */
export type VideoContent =
  | { readonly body: Readable; readonly contentType: string | null }
  | { readonly redirectUrl: string };

/** Video generation (API: POST /v1/videos): a job that is submitted, then polled, then fetched. */
export interface VideoPort {
  /** Submits the job; returns the provider's id of it. */
  submitVideo(command: VideoCommand, context: AttemptContext): Promise<string>;
  /** The state of the job. Unknown states count as pending and are reported. */
  readVideo(jobId: string, context: AttemptContext): Promise<VideoReport>;
  /**
   * The file of a finished job. The URL of a redirect comes from the provider: it must be fetched through the SSRF
   * guard and without our key.
   */
  openVideo(jobId: string, context: AttemptContext): Promise<VideoContent>;
}
