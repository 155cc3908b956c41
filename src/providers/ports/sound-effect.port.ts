import type { AttemptContext } from './attempt-context.js';
import type { AudioFormat, ProviderAudio } from './provider-audio.js';

/** A sound to generate. The duration is always sent, because it decides the price. */
export interface SoundEffectCommand {
  readonly prompt: string;
  readonly durationSeconds: number;
  readonly format: Exclude<AudioFormat, 'wav'>;
  readonly promptInfluence?: number | undefined;
  readonly loop?: boolean | undefined;
}

/** Sound effects (API: POST /v1/audio/sound-effects). */
export interface SoundEffectPort {
  makeSound(command: SoundEffectCommand, context: AttemptContext): Promise<ProviderAudio>;
}
