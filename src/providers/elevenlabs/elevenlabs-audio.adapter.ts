import type { ProviderHttp } from '../http/provider-http.js';
import { requestAudio } from '../http/audio-sniff.js';
import { jsonBody, multipartBody, type RequestBody } from '../http/request-body.js';
import type { UpstreamTimeoutName } from '../http/upstream-timeouts.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  AudioFormat,
  CompositionCommand,
  CompositionPort,
  DialogueCommand,
  DialoguePort,
  IsolationCommand,
  IsolationPort,
  ProviderAudio,
  SoundEffectCommand,
  SoundEffectPort,
  SpeechCommand,
  SpeechPort,
  VoiceChangeCommand,
  VoiceChangePort,
} from '../ports/audio.port.js';

const OUTPUT_FORMATS: Readonly<Record<AudioFormat, string>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_128',
  pcm: 'pcm_24000',
  wav: 'wav_44100',
};

/** A request whose response is audio. */
interface AudioRequest {
  readonly path: string;
  readonly body: RequestBody;
  readonly format: AudioFormat;
  readonly timeout?: UpstreamTimeoutName;
}

/** How a voice speaks. */
interface VoiceStyle {
  readonly stability?: number | undefined;
  readonly similarityBoost?: number | undefined;
  readonly style?: number | undefined;
  readonly useSpeakerBoost?: boolean | undefined;
  readonly speed?: number | undefined;
}

/** The operations over the ElevenLabs wire protocol whose result is audio as it is made. */
export class ElevenLabsAudio
  implements
    SpeechPort,
    DialoguePort,
    VoiceChangePort,
    IsolationPort,
    SoundEffectPort,
    CompositionPort
{
  constructor(private readonly http: ProviderHttp) {}

  speak(command: SpeechCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { voiceId, format } = command;
    const path = withFormat(`/v1/text-to-speech/${encodeURIComponent(voiceId)}`, format);
    const body = jsonBody({
      model_id: context.upstreamModel,
      text: command.text,
      language_code: command.language,
      voice_settings: voiceSettings(command),
      seed: command.seed,
      previous_text: command.previousText,
      next_text: command.nextText,
      apply_text_normalization: command.applyTextNormalization,
    });
    return this.request({ path, body, format }, context);
  }

  speakDialogue(command: DialogueCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { format, stability } = command;
    const path = withFormat('/v1/text-to-dialogue', format);
    const body = jsonBody({
      model_id: context.upstreamModel,
      inputs: command.lines.map(({ text, voiceId }) => ({ text, voice_id: voiceId })),
      language_code: command.language,
      settings: stability === undefined ? undefined : { stability },
      seed: command.seed,
    });
    return this.request({ path, body, format }, context);
  }

  changeVoice(command: VoiceChangeCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { voiceId, format, media } = command;
    const path = withFormat(`/v1/speech-to-speech/${encodeURIComponent(voiceId)}`, format);
    const settings = voiceSettings(command);
    const fields = {
      model_id: context.upstreamModel,
      voice_settings: settings && JSON.stringify(settings),
      seed: command.seed,
      remove_background_noise: command.removeBackgroundNoise,
    };
    return this.request(
      { path, body: multipartBody(fields, [{ field: 'audio', file: media }]), format },
      context,
    );
  }

  /** The protocol has neither a model name nor a format for it. */
  isolate({ media }: IsolationCommand, context: AttemptContext): Promise<ProviderAudio> {
    const body = multipartBody({}, [{ field: 'audio', file: media }]);
    return this.request({ path: '/v1/audio-isolation', body, format: 'mp3' }, context);
  }

  makeSound(command: SoundEffectCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { format } = command;
    const path = withFormat('/v1/sound-generation', format);
    const body = jsonBody({
      model_id: context.upstreamModel,
      text: command.prompt,
      duration_seconds: command.durationSeconds,
      prompt_influence: command.promptInfluence,
      loop: command.loop,
    });
    return this.request({ path, body, format }, context);
  }

  compose(command: CompositionCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { format, durationSeconds } = command;
    const path = withFormat('/v1/music', format);
    const body = jsonBody({
      model_id: context.upstreamModel,
      prompt: command.prompt,
      lyrics_text: command.lyrics,
      music_length_ms: durationSeconds === undefined ? undefined : durationSeconds * 1000,
      force_instrumental: command.instrumental,
    });
    return this.request({ path, body, format, timeout: 'composition' }, context);
  }

  private request(
    { path, body, format, timeout = 'audio' }: AudioRequest,
    context: AttemptContext,
  ): Promise<ProviderAudio> {
    return requestAudio(this.http, { path, body, timeout, context }, format);
  }
}

/** `path` with the query parameter for our encoding of the format. */
function withFormat(path: string, format: AudioFormat): string {
  return `${path}?output_format=${OUTPUT_FORMATS[format]}`;
}

/** The wire object `voice_settings`; undefined when nothing is set, so that the stored settings of the voice apply. */
function voiceSettings(style: VoiceStyle): object | undefined {
  const settings = {
    stability: style.stability,
    similarity_boost: style.similarityBoost,
    style: style.style,
    use_speaker_boost: style.useSpeakerBoost,
    speed: style.speed,
  };
  return Object.values(settings).some((value) => value !== undefined) ? settings : undefined;
}
