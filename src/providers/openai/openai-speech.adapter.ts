import { sniffAudio } from '../http/audio-sniff.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ProviderAudio, SpeechCommand, SpeechPort } from '../ports/audio.port.js';

/**
 * Speech over the OpenAI wire protocol. It takes text, voice, format and speed; the other settings of a voice have no
 * counterpart there and are not sent. Its PCM is 24 kHz, 16 bit, as callers are promised.
 */
export class OpenAiSpeech implements SpeechPort {
  constructor(private readonly http: ProviderHttp) {}

  async speak(command: SpeechCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { text, voiceId, format, speed } = command;
    const answer = await this.http.request({
      method: 'POST',
      path: '/audio/speech',
      body: jsonBody({
        model: context.upstreamModel,
        input: text,
        voice: voiceId,
        response_format: format,
        speed,
      }),
      headers: { accept: 'audio/*' },
      timeout: 'audio',
      context,
    });
    if (!(await sniffAudio(answer.body, format))) throw await this.http.noFile(answer, 'not_audio');
    return { body: answer.body, providerRequestId: answer.providerRequestId };
  }
}
