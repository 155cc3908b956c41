import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ProviderAudio, SpeechCommand, SpeechPort } from '../ports/audio.port.js';
import { requestAudio, withOutputFormat } from './elevenlabs-audio.js';
import { voiceSettings } from './elevenlabs-voice-settings.js';

/** Speech over the ElevenLabs wire protocol. */
export class ElevenLabsSpeech implements SpeechPort {
  constructor(private readonly http: ProviderHttp) {}

  speak(
    command: SpeechCommand,
    { upstreamModel, signal, terms, onFigures }: AttemptContext,
  ): Promise<ProviderAudio> {
    const { voiceId, format } = command;
    const path = withOutputFormat(`/v1/text-to-speech/${encodeURIComponent(voiceId)}`, format);
    const body = jsonBody(speechBody(command, upstreamModel));
    return requestAudio(this.http, { path, body, format, signal, terms, onFigures });
  }
}

function speechBody(command: SpeechCommand, upstreamModel: string): object {
  return {
    model_id: upstreamModel,
    text: command.text,
    language_code: command.language,
    voice_settings: voiceSettings(command),
    seed: command.seed,
    previous_text: command.previousText,
    next_text: command.nextText,
    apply_text_normalization: command.applyTextNormalization,
  };
}
