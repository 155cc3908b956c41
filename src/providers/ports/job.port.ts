import type { Readable } from 'node:stream';
import type { AttemptContext, RouteTerms } from './attempt.js';
import type { MediaFile } from './audio.port.js';

/** What a provider says about a job that failed, in its own words; null where it says nothing. */
export interface JobFailure {
  readonly code: string | null;
  readonly message: string | null;
  readonly requestId: string | null;
  /** The provider refused the content of the job, or of what it had made. */
  readonly isContentRefusal?: boolean;
}

/** A job that is not finished. */
export interface PendingJob {
  readonly state: 'pending';
  /** 0 to 100, or null where none is reported. */
  readonly progress: number | null;
  /** The provider's word for the state of the job, if the adapter does not know it. */
  readonly unknownState?: string;
}

/** A job that will never produce anything: it failed, was refused, cancelled, or expired. */
export interface FailedJob {
  readonly state: 'failed';
  readonly failure: JobFailure;
}

/** A recording to dub. Absent fields are not sent. */
export interface DubbingCommand {
  readonly media: MediaFile;
  /** The name of the job at the provider, which operators see there. */
  readonly name: string;
  readonly targetLanguage: string;
  /** A language, or `auto`. */
  readonly sourceLanguage: string;
  /** 0 detects the speakers. */
  readonly numSpeakers?: number | undefined;
  readonly highestResolution?: boolean | undefined;
  readonly dropBackgroundAudio?: boolean | undefined;
}

/** The state of a dub at the provider. */
export type DubbingReport =
  | PendingJob
  | {
      readonly state: 'succeeded';
      /** The requested or the detected language. */
      readonly sourceLanguage: string | null;
      /** A hint. The type of the file itself counts. */
      readonly contentType: string | null;
      readonly durationSeconds: number | null;
    }
  | FailedJob;

/** The file of a finished job while it arrives. */
export interface OpenedFile {
  readonly body: Readable;
  readonly contentType: string | null;
  /** The size that the provider has announced; undefined where it has not. */
  readonly announcedBytes?: number | undefined;
}

/** Dubbing (API: POST /v1/audio/dubbing): a job that is submitted, then polled, then fetched. */
export interface DubbingPort {
  /** Submits the job, without watermark; returns the provider's id of the job. */
  submitDub(command: DubbingCommand, context: AttemptContext): Promise<string>;
  /** The state of the job. Unknown states count as pending and are reported. */
  readDub(jobId: string, context: AttemptContext): Promise<DubbingReport>;
  /** The file of a finished job; it is neither empty nor a text. */
  openDub(jobId: string, targetLanguage: string, context: AttemptContext): Promise<OpenedFile>;
  /** Asks the provider to delete the job, its source and its dub. */
  removeDub(jobId: string, context: AttemptContext): Promise<void>;
}

/** A video to generate. The provider decides absent fields. */
export interface VideoCommand {
  readonly prompt: string;
  /** Duration in seconds, as in the catalog row of the model. */
  readonly seconds: string;
  /** `<width>x<height>`. */
  readonly size?: string | undefined;
  /** `<width>:<height>`. */
  readonly aspectRatio?: string | undefined;
  /** A word of the catalog row, such as `720p`. */
  readonly resolution?: string | undefined;
  /** Whether the video has sound. */
  readonly audio?: boolean | undefined;
  /** The image with which the video begins. The provider fetches it itself. */
  readonly firstFrameUrl?: string | undefined;
  /** The image with which the video ends. The provider fetches it itself. */
  readonly lastFrameUrl?: string | undefined;
  /** Reference images. The provider fetches them itself. */
  readonly imageUrls?: readonly string[] | undefined;
  /** Our own name of the job, by which some providers can be asked for it. */
  readonly reference?: string | undefined;
}

/** When the job of a submission can have been made, both included, in milliseconds since the epoch. */
export interface MadeWithin {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The state of a video at the provider. */
export type VideoReport =
  | PendingJob
  | { readonly state: 'succeeded'; readonly progress: number | null }
  /** Finished, and the answer does not say where the file is. */
  | { readonly state: 'unreadable' }
  | FailedJob;

/** A finished video: its bytes, or the URL to which the provider redirects us. */
export type VideoContent = OpenedFile | { readonly redirectUrl: string };

/** Video generation (API: POST /v1/videos): a job that is submitted, then polled, then fetched. */
export interface VideoPort {
  /** The fields, by their public names, that this route cannot do as they are asked; empty: all is done. Absent: it does everything. */
  lacks?(command: VideoCommand, route: RouteTerms): readonly string[];
  /** Submits the job; returns the provider's id of it. */
  submitVideo(command: VideoCommand, context: AttemptContext): Promise<string>;
  /** By what the provider can be asked for a lost job, if it can: our reference, or the time and the fields of its submission. */
  readonly findsBy?: 'reference' | 'time' | undefined;
  /**
   * The provider's id of the job with the command's reference, or of the only one with its fields that was `made` then; null where the
   * provider says that it has none.
   */
  findVideo?(
    command: VideoCommand,
    context: AttemptContext,
    made?: MadeWithin,
  ): Promise<string | null>;
  /** The state of the job. Unknown states count as pending and are reported. */
  readVideo(jobId: string, context: AttemptContext): Promise<VideoReport>;
  /**
   * The file of a finished job. The URL of a redirect comes from the provider: it must be fetched through the SSRF
   * guard and without our key.
   */
  openVideo(jobId: string, context: AttemptContext): Promise<VideoContent>;
  /** Whether the provider can be asked to stop a job. */
  readonly canCancel?: boolean;
  /** Asks the provider to stop the job. Of a job that is finished nothing is asked. */
  cancelVideo?(jobId: string, context: AttemptContext): Promise<void>;
  /** Whether the provider can be asked to delete a job. */
  readonly canDelete?: boolean;
  /** Asks the provider to delete the job and its video. */
  deleteVideo?(jobId: string, context: AttemptContext): Promise<void>;
}
