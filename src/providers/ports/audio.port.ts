import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt.js';

/** Encodings of `response_format` (API: Output formats). */
export type AudioFormat = 'mp3' | 'opus' | 'pcm' | 'wav';

/** Audio that the provider is generating. Its first bytes have arrived, and they fit the requested format. */
export interface ProviderAudio {
  /**
   * Audio bytes as they arrive. Fails with a `ProviderError` if the provider disconnects early. Destroying it closes
   * the upstream connection.
   */
  readonly body: Readable;
  readonly providerRequestId: string | null;
}

/** A recording on local disk, which is sent to a provider unchanged. */
export interface MediaFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Name and media type that the provider sees, such as `audio.mp3` and `audio/mpeg`. */
  readonly filename: string;
  readonly contentType: string;
}

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

/** Music to compose. */
export interface CompositionCommand {
  readonly prompt: string;
  /** Always sent where it decides the price; undefined for a model that is sold by the song. */
  readonly durationSeconds: number | undefined;
  readonly format: Exclude<AudioFormat, 'wav'>;
  readonly lyrics?: string | undefined;
  /** True means that there is no singing. */
  readonly instrumental?: boolean | undefined;
}

/** Music composition (API: POST /v1/audio/music). */
export interface CompositionPort {
  compose(command: CompositionCommand, context: AttemptContext): Promise<ProviderAudio>;
}

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

/** A recording from which only the speech is kept. */
export interface IsolationCommand {
  readonly media: MediaFile;
}

/** Voice isolation; the response is always MP3 (API: POST /v1/audio/isolation). */
export interface IsolationPort {
  isolate(command: IsolationCommand, context: AttemptContext): Promise<ProviderAudio>;
}
