import type { AttemptContext } from './attempt-context.js';
import type { AudioFormat, ProviderAudio } from './provider-audio.js';

/** Music to be composed. The duration is always sent, since it is what is billed. */
export interface CompositionCommand {
  readonly prompt: string;
  readonly durationSeconds: number;
  readonly format: Exclude<AudioFormat, 'wav'>;
  readonly lyrics?: string | undefined;
  /** True guarantees that nobody sings. */
  readonly instrumental?: boolean | undefined;
}

/** Music composition (spec: POST /v1/audio/music). */
export interface CompositionPort {
  compose(command: CompositionCommand, context: AttemptContext): Promise<ProviderAudio>;
}
