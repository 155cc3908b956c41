import type { Task } from '../tasks/task.js';

/** The input for the provider. The source is a stored file until the provider has it. */
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

/**
 * The facts that are kept after the input is deleted. Older tasks do not name the stored file of their source, nor where the
 * caller reached the gateway.
 */
export type DubbingDetails = Readonly<{
  targetLanguage: string;
  sourceFileId?: string;
  gatewayUrl?: string;
}>;

export function dubbingInputOf(task: Task): DubbingInput {
  return task.input as DubbingInput;
}

export function dubbingDetailsOf(task: Task): DubbingDetails {
  return task.details as DubbingDetails;
}

/** The type that the provider announced for the dub. It is a hint. */
export function announcedType({ result }: Task): string | null {
  const type = result?.content_type;
  return typeof type === 'string' ? type : null;
}
