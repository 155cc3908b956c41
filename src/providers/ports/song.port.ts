import type { JsonObject } from '../../common/json-object.js';
import type { AttemptContext } from './attempt.js';
import type { FailedJob, PendingJob } from './job.port.js';

/** What a song operation has to do. */
export type SongCommand = Readonly<{
  /** The fields of the request under their public names, with defaults, without the fields that name tasks. */
  fields: JsonObject;
  /** The provider's ids of the source tracks, in the requested order. */
  trackIds: readonly string[];
  /** Title of the source track, for operations that require one. */
  sourceTitle?: string | undefined;
  /** The provider's id of the persona that sings. */
  personaId?: string | undefined;
  /** The provider's id of the caller's own model, which replaces a version. */
  customModelId?: string | undefined;
}>;

/** The part of a command with which its response must agree. It is kept longer than the command. */
export type SongExpectation = Readonly<{
  /** Requested formats of the files, in order. */
  formats?: readonly string[] | undefined;
  format?: string | undefined;
  /** The caller's title of an imported track. */
  title?: string | undefined;
}>;

/** A track from the provider; facts that it did not report are absent. Durations are in seconds, sizes in bytes. */
export interface SongTrack {
  readonly id?: string | undefined;
  readonly audioUrl?: string | undefined;
  readonly wavUrl?: string | undefined;
  readonly imageUrl?: string | undefined;
  readonly videoUrl?: string | undefined;
  readonly fileUrl?: string | undefined;
  readonly durationSeconds?: number | undefined;
  readonly title?: string | undefined;
  readonly lyrics?: string | undefined;
  readonly tags?: string | undefined;
  readonly status?: string | undefined;
  readonly format?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly sizeBytes?: number | undefined;
}

/** A word or line of lyrics with its times in the track, in seconds. */
export interface TimedLyric {
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly isAligned: boolean;
}

/** A note of a transcription: MIDI pitch, seconds, velocity 0 to 1. */
export interface MidiNote {
  readonly pitch: number;
  readonly start: number;
  readonly end: number;
  readonly velocity: number;
}

/** The result of an operation; each operation sets fields of its own (API: Song task result). */
export interface SongResult {
  readonly tracks?: readonly SongTrack[];
  readonly lyrics?: readonly {
    readonly text: string;
    readonly title?: string | undefined;
    readonly tags?: string | undefined;
  }[];
  readonly files?: readonly { readonly format: string; readonly url: string }[];
  readonly videos?: readonly string[];
  readonly text?: string;
  readonly persona?: { readonly id: string };
  readonly customModel?: { readonly id: string; readonly name: string };
  readonly bpm?: {
    readonly average: number;
    readonly min?: number | undefined;
    readonly max?: number | undefined;
  };
  readonly timedLyrics?: readonly TimedLyric[];
  readonly midi?: {
    readonly state: string;
    readonly instruments: readonly {
      readonly name: string;
      readonly notes: readonly MidiNote[];
    }[];
  };
  readonly voice?: Readonly<Record<string, string | number | boolean>>;
}

/** A paid request before the operation itself. Equal requests have equal results. */
export interface SongStep {
  readonly path: string;
  readonly body: JsonObject;
}

/** The provider's response to a submission. */
export type SongSubmission =
  | { readonly state: 'accepted'; readonly jobId: string }
  /** One paid step is done. `memory` is passed to the next submission. */
  | { readonly state: 'step'; readonly stepState: JsonObject }
  | { readonly state: 'done'; readonly result: SongResult }
  | FailedJob;

/** The state of a job. `progress` is 0 to 100, or null when none is reported. */
export type SongReport =
  | PendingJob
  | { readonly state: 'succeeded'; readonly progress: number | null; readonly result: SongResult }
  /** The job is done, but its result lacks what the operation promises. */
  | { readonly state: 'unreadable' }
  | FailedJob;

/**
 * Song operations (API: POST /v1/music/generations): jobs that are submitted (some in several steps) and then polled.
 */
export interface SongPort {
  /** The step that `submitSong` would send now; undefined when it is the operation itself. */
  songStepOf(
    command: SongCommand,
    memory: JsonObject,
    context: AttemptContext,
  ): SongStep | undefined;
  /**
   * Submits the next step of the operation. `memory` holds the responses of the previous steps; it is empty at first.
   */
  submitSong(
    command: SongCommand,
    memory: JsonObject,
    context: AttemptContext,
  ): Promise<SongSubmission>;
  /** The state of the job. Unknown states count as pending and are reported. */
  readSong(jobId: string, expected: SongExpectation, context: AttemptContext): Promise<SongReport>;
}
