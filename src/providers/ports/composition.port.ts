import type { AttemptContext } from './attempt-context.js';
import type { AudioFormat, ProviderAudio } from './provider-audio.js';

/** Music to compose. The duration is always sent, because it decides the price. */
export interface CompositionCommand {
  readonly prompt: string;
  readonly durationSeconds: number;
  readonly format: Exclude<AudioFormat, 'wav'>;
  readonly lyrics?: string | undefined;
  /** True means that there is no singing. */
  readonly instrumental?: boolean | undefined;
}

/** Music composition (API: POST /v1/audio/music). */
export interface CompositionPort {
  compose(command: CompositionCommand, context: AttemptContext): Promise<ProviderAudio>;
}
