import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt-context.js';
import type { MediaFile } from './media-file.js';

/** A recording to be dubbed. Fields left out are not sent. */
export interface DubbingCommand {
  readonly media: MediaFile;
  /** What the provider calls the job; shown to operators there. */
  readonly name: string;
  readonly targetLanguage: string;
  /** A language, or `auto`. */
  readonly sourceLanguage: string;
  /** 0 detects the speakers. */
  readonly numSpeakers?: number | undefined;
  readonly highestResolution?: boolean | undefined;
  readonly dropBackgroundAudio?: boolean | undefined;
}

/** What a provider says of a dub it was asked for. */
export type DubbingReport =
  | { readonly state: 'pending' }
  | {
      readonly state: 'succeeded';
      /** As used or detected. */
      readonly sourceLanguage: string | null;
      /** A hint; the file's own type counts. */
      readonly contentType: string | null;
      readonly durationSeconds: number | null;
    }
  | { readonly state: 'failed' };

/** A finished dub. */
export interface Dub {
  readonly body: Readable;
  readonly contentType: string | null;
}

/** Dubbing (spec: POST /v1/audio/dubbing): a job that is submitted, asked after, and fetched. */
export interface DubbingPort {
  /** Submits the job, for a dub without watermark; returns the provider's id of it. */
  submitDub(command: DubbingCommand, context: AttemptContext): Promise<string>;
  /** How far the job is. States the provider may invent count as pending. */
  readDub(jobId: string, context: AttemptContext): Promise<DubbingReport>;
  /** The file of a finished job. */
  openDub(jobId: string, targetLanguage: string, context: AttemptContext): Promise<Dub>;
  /** Has the provider delete the job, its source and its dub. */
  removeDub(jobId: string, context: AttemptContext): Promise<void>;
}
