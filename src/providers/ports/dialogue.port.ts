import type { AttemptContext } from './attempt-context.js';
import type { AudioFormat, ProviderAudio } from './provider-audio.js';

/** Lines for several voices, in the order in which they are spoken. */
export interface DialogueCommand {
  readonly lines: readonly { readonly text: string; readonly voiceId: string }[];
  readonly format: AudioFormat;
  readonly language?: string | undefined;
  readonly stability?: number | undefined;
  readonly seed?: number | undefined;
}

/** Text to dialogue (API: POST /v1/audio/dialogue). */
export interface DialoguePort {
  speakDialogue(command: DialogueCommand, context: AttemptContext): Promise<ProviderAudio>;
}
