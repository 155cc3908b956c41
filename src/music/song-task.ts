import type { SongShape } from '../catalog/song-shape.js';
import type { SongCommand, SongExpectation } from '../providers/ports/song.port.js';
import type { Task } from '../tasks/task.js';

/** Name of the kind, stored with every song task. */
export const SONG_KIND = 'song';

/** A family of models. Results of one family cannot be used in the other (decision G-70). */
export type SongFamily = 'song' | 'tune';

/** Facts that are kept as long as the task. */
export type SongDetails = Readonly<{
  family: SongFamily;
  shape: SongShape;
  expected: SongExpectation;
}>;

/** The family of a model by its id. */
export function familyOf(model: string): SongFamily {
  return model.startsWith('tune-') ? 'tune' : 'song';
}

export function commandOf(task: Task): SongCommand {
  return task.input as SongCommand;
}

export function songDetailsOf(task: Task): SongDetails {
  return task.details as SongDetails;
}
