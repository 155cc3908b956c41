import type { AttemptContext } from './attempt-context.js';
import type { AudioFormat, ProviderAudio } from './provider-audio.js';

/** Text that one voice speaks. Absent fields are not sent, so the provider's default applies (decision G-38). */
export interface SpeechCommand {
  readonly text: string;
  readonly voiceId: string;
  readonly format: AudioFormat;
  readonly language?: string | undefined;
  readonly speed?: number | undefined;
  readonly stability?: number | undefined;
  readonly similarityBoost?: number | undefined;
  readonly style?: number | undefined;
  readonly useSpeakerBoost?: boolean | undefined;
  readonly seed?: number | undefined;
  readonly previousText?: string | undefined;
  readonly nextText?: string | undefined;
  readonly applyTextNormalization?: 'auto' | 'on' | 'off' | undefined;
}

/** Text to speech (API: POST /v1/audio/speech). */
export interface SpeechPort {
  speak(command: SpeechCommand, context: AttemptContext): Promise<ProviderAudio>;
}
