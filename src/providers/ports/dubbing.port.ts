import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt-context.js';
import type { FailedJob, PendingJob } from './job-failure.js';
import type { MediaFile } from './media-file.js';

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

/** A finished dub. */
export interface Dub {
  readonly body: Readable;
  readonly contentType: string | null;
}

/** Dubbing (API: POST /v1/audio/dubbing): a job that is submitted, then polled, then fetched. */
export interface DubbingPort {
  /** Submits the job, without watermark; returns the provider's id of the job. */
  submitDub(command: DubbingCommand, context: AttemptContext): Promise<string>;
  /** The state of the job. Unknown states count as pending and are reported. */
  readDub(jobId: string, context: AttemptContext): Promise<DubbingReport>;
  /** The file of a finished job; it is neither empty nor a text. */
  openDub(jobId: string, targetLanguage: string, context: AttemptContext): Promise<Dub>;
  /** Asks the provider to delete the job, its source and its dub. */
  removeDub(jobId: string, context: AttemptContext): Promise<void>;
}
