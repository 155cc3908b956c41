import type { ProviderHttp } from '../http/provider-http.js';
import { type FormFields, multipartBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ProviderAudio, VoiceChangeCommand, VoiceChangePort } from '../ports/audio.port.js';
import { requestAudio, withOutputFormat } from './elevenlabs-audio.js';
import { voiceSettings } from './elevenlabs-voice-settings.js';

/** Voice changing over the ElevenLabs wire protocol. */
export class ElevenLabsVoiceChange implements VoiceChangePort {
  constructor(private readonly http: ProviderHttp) {}

  changeVoice(
    command: VoiceChangeCommand,
    { upstreamModel, signal, terms, onFigures }: AttemptContext,
  ): Promise<ProviderAudio> {
    const { voiceId, format, media } = command;
    const path = withOutputFormat(`/v1/speech-to-speech/${encodeURIComponent(voiceId)}`, format);
    const body = multipartBody(voiceChangeFields(command, upstreamModel), 'audio', media);
    return requestAudio(this.http, { path, body, format, signal, terms, onFigures });
  }
}

function voiceChangeFields(command: VoiceChangeCommand, upstreamModel: string): FormFields {
  const settings = voiceSettings(command);
  return {
    model_id: upstreamModel,
    voice_settings: settings && JSON.stringify(settings),
    seed: command.seed,
    remove_background_noise: command.removeBackgroundNoise,
  };
}
