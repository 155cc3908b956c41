import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ProviderAudio, SoundEffectCommand, SoundEffectPort } from '../ports/audio.port.js';
import { requestAudio, withOutputFormat } from './elevenlabs-audio.js';

/** Sound effects over the ElevenLabs wire protocol. */
export class ElevenLabsSoundEffect implements SoundEffectPort {
  constructor(private readonly http: ProviderHttp) {}

  makeSound(
    command: SoundEffectCommand,
    { upstreamModel, signal, terms, onFigures }: AttemptContext,
  ): Promise<ProviderAudio> {
    const { format } = command;
    const path = withOutputFormat('/v1/sound-generation', format);
    const body = jsonBody(soundBody(command, upstreamModel));
    return requestAudio(this.http, { path, body, format, signal, terms, onFigures });
  }
}

function soundBody(command: SoundEffectCommand, upstreamModel: string): object {
  return {
    model_id: upstreamModel,
    text: command.prompt,
    duration_seconds: command.durationSeconds,
    prompt_influence: command.promptInfluence,
    loop: command.loop,
  };
}
