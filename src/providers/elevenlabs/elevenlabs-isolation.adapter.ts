import type { ProviderHttp } from '../http/provider-http.js';
import { multipartBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { IsolationCommand, IsolationPort, ProviderAudio } from '../ports/audio.port.js';
import { requestAudio } from './elevenlabs-audio.js';

/** Voice isolation over the ElevenLabs wire protocol, which has neither a model name nor a format for it. */
export class ElevenLabsIsolation implements IsolationPort {
  constructor(private readonly http: ProviderHttp) {}

  isolate(
    { media }: IsolationCommand,
    { signal, terms, onFigures }: AttemptContext,
  ): Promise<ProviderAudio> {
    const body = multipartBody({}, 'audio', media);
    return requestAudio(this.http, {
      path: '/v1/audio-isolation',
      body,
      format: 'mp3',
      signal,
      terms,
      onFigures,
    });
  }
}
