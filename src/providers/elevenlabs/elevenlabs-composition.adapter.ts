import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { CompositionCommand, CompositionPort, ProviderAudio } from '../ports/audio.port.js';
import { requestAudio, withOutputFormat } from './elevenlabs-audio.js';

/** Music over the ElevenLabs wire protocol. */
export class ElevenLabsComposition implements CompositionPort {
  constructor(private readonly http: ProviderHttp) {}

  compose(
    command: CompositionCommand,
    { upstreamModel, signal, terms, onFigures }: AttemptContext,
  ): Promise<ProviderAudio> {
    const { format } = command;
    const path = withOutputFormat('/v1/music', format);
    const body = jsonBody(musicBody(command, upstreamModel));
    return requestAudio(this.http, {
      path,
      body,
      format,
      signal,
      terms,
      onFigures,
      timeout: 'composition',
    });
  }
}

function musicBody(command: CompositionCommand, upstreamModel: string): object {
  return {
    model_id: upstreamModel,
    prompt: command.prompt,
    lyrics_text: command.lyrics,
    music_length_ms: command.durationSeconds * 1000,
    force_instrumental: command.instrumental,
  };
}
