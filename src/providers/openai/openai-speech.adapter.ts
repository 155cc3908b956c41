import type { ProviderHttp } from '../http/provider-http.js';
import { requestAudio } from '../http/audio-sniff.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ProviderAudio, SpeechCommand, SpeechPort } from '../ports/audio.port.js';

/**
 * Speech over the OpenAI wire protocol. It takes text, voice, format and speed; the other settings of a voice have no
 * counterpart there and are not sent. Its PCM is 24 kHz, 16 bit, as callers are promised.
 */
export class OpenAiSpeech implements SpeechPort {
  constructor(private readonly http: ProviderHttp) {}

  speak(command: SpeechCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { text, voiceId, format, speed } = command;
    const body = jsonBody({
      model: context.upstreamModel,
      input: text,
      voice: voiceId,
      response_format: format,
      speed,
    });
    const request = { path: '/audio/speech', body, timeout: 'audio', context } as const;
    return requestAudio(this.http, request, format);
  }
}
