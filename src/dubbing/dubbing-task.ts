import type { Task } from '../tasks/task.js';

/** What the provider is asked for; the source is a stored file until it has it. */
export type DubbingInput = Readonly<{
  fileId: string;
  filename: string;
  contentType: string;
  targetLanguage: string;
  sourceLanguage: string;
  numSpeakers?: number | undefined;
  highestResolution?: boolean | undefined;
  dropBackgroundAudio?: boolean | undefined;
}>;

/** What the view needs besides the result. */
export type DubbingDetails = Readonly<{ targetLanguage: string }>;

/** What the provider told of the dub. */
export type DubbingResult = Readonly<{
  sourceLanguage: string | null;
  contentType: string | null;
  durationSeconds: number | null;
}>;

export function inputOf(task: Task): DubbingInput {
  return task.input as DubbingInput;
}

export function detailsOf(task: Task): DubbingDetails {
  return task.details as DubbingDetails;
}

/** Null until success. */
export function resultOf(task: Task): DubbingResult | null {
  return task.result as DubbingResult | null;
}
