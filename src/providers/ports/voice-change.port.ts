import type { AttemptContext } from './attempt-context.js';
import type { MediaFile } from './media-file.js';
import type { AudioFormat, ProviderAudio } from './provider-audio.js';

/** A recording whose words another voice speaks. Absent fields are not sent. */
export interface VoiceChangeCommand {
  readonly media: MediaFile;
  readonly voiceId: string;
  readonly format: AudioFormat;
  readonly stability?: number | undefined;
  readonly similarityBoost?: number | undefined;
  readonly style?: number | undefined;
  readonly useSpeakerBoost?: boolean | undefined;
  readonly removeBackgroundNoise?: boolean | undefined;
  readonly seed?: number | undefined;
}

/** Speech to speech (API: POST /v1/audio/voice-changer). */
export interface VoiceChangePort {
  changeVoice(command: VoiceChangeCommand, context: AttemptContext): Promise<ProviderAudio>;
}
