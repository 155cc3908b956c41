import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt-context.js';

/** A video to be made. Absent fields are left to the provider. */
export interface VideoCommand {
  readonly prompt: string;
  /** Length in seconds, as the model's row names it. */
  readonly seconds: string;
  /** `<width>x<height>`. */
  readonly size?: string | undefined;
  /** `<width>:<height>`. */
  readonly aspectRatio?: string | undefined;
  /** Reference images; the provider fetches them itself. */
  readonly imageUrls?: readonly string[] | undefined;
}

/** What a provider says of a video it was asked for. */
export type VideoReport =
  | { readonly state: 'pending'; readonly progress: number | null }
  | { readonly state: 'succeeded'; readonly progress: number | null }
  | { readonly state: 'failed' };

/** A finished video: its bytes, or where the provider sends us for them. */
export type VideoContent =
  | { readonly body: Readable; readonly contentType: string | null }
  | { readonly redirectUrl: string };

/** Video generation (spec: POST /v1/videos): a job that is submitted, asked after, and fetched. */
export interface VideoPort {
  /** Submits the job; returns the provider's id of it. */
  submitVideo(command: VideoCommand, context: AttemptContext): Promise<string>;
  /** How far the job is. States the provider may invent count as pending. */
  readVideo(jobId: string, context: AttemptContext): Promise<VideoReport>;
  /** The file of a finished job. The URL of a redirect is the provider's word and to be fetched with care, without our key. */
  openVideo(jobId: string, context: AttemptContext): Promise<VideoContent>;
}
