import type { JsonObject } from '../../common/json-object.js';
import type { AttemptContext } from './attempt-context.js';

/** What a song operation is to do. */
export type SongCommand = Readonly<{
  /** The fields of the request under their public names, defaults filled in, without those that name tasks. */
  fields: JsonObject;
  /** The provider's ids of the source tracks, in the order asked for. */
  trackIds: readonly string[];
  /** Title of the source track, for operations that must be given one. */
  sourceTitle?: string | undefined;
  /** The provider's id of the persona that is to sing. */
  personaId?: string | undefined;
  /** The provider's id of the caller's own model, which stands in for a version. */
  customModelId?: string | undefined;
}>;

/** What of a command its answer has to match; kept longer than the command. */
export type SongExpectation = Readonly<{
  /** Formats of the files asked for, in order. */
  formats?: readonly string[] | undefined;
  format?: string | undefined;
  /** The caller's own title of an imported track. */
  title?: string | undefined;
}>;

/** A track as the provider made it; what it did not report is absent. Seconds, bytes. */
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

/** A word or line of lyrics and its place in the track, in seconds. */
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

/** What an operation brought; each operation fills its own fields (spec: Song task result). */
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

/** What came of a submission. */
export type SongSubmission =
  | { readonly state: 'accepted'; readonly jobId: string }
  /** One paid step is done; `memory` goes into the next submission. */
  | { readonly state: 'step'; readonly memory: JsonObject }
  | { readonly state: 'done'; readonly result: SongResult }
  | { readonly state: 'failed' };

/** How far a job is; `progress` 0 to 100, null where none is reported. */
export type SongReport =
  | { readonly state: 'pending'; readonly progress: number | null }
  | { readonly state: 'succeeded'; readonly progress: number | null; readonly result: SongResult }
  /** Done, with a result that does not hold what the operation promises. */
  | { readonly state: 'unreadable' }
  | { readonly state: 'failed' };

/** Song operations (spec: POST /v1/music/generations): jobs that are submitted, some in several steps, and asked after. */
export interface SongPort {
  /** The next step of the operation; `memory` is what the steps before brought, empty at first. */
  submitSong(
    command: SongCommand,
    memory: JsonObject,
    context: AttemptContext,
  ): Promise<SongSubmission>;
  /** How far the job is. States the provider may invent count as pending. */
  readSong(jobId: string, expected: SongExpectation, context: AttemptContext): Promise<SongReport>;
}
