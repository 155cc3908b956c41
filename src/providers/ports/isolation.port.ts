import type { AttemptContext } from './attempt-context.js';
import type { MediaFile } from './media-file.js';
import type { ProviderAudio } from './provider-audio.js';

/** A recording from which only the speech is kept. */
export interface IsolationCommand {
  readonly media: MediaFile;
}

/** Voice isolation; the response is always MP3 (API: POST /v1/audio/isolation). */
export interface IsolationPort {
  isolate(command: IsolationCommand, context: AttemptContext): Promise<ProviderAudio>;
}
