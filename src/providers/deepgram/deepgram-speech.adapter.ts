import { requestAudio } from '../http/audio-sniff.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { type FormFields, jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { AudioFormat, ProviderAudio, SpeechCommand, SpeechPort } from '../ports/audio.port.js';

/** The rate that callers are promised for PCM. */
const SAMPLE_RATE = 24_000;
const FORMATS: Readonly<Record<AudioFormat, FormFields>> = {
  mp3: { encoding: 'mp3' },
  opus: { encoding: 'opus', container: 'ogg' },
  pcm: { encoding: 'linear16', container: 'none', sample_rate: SAMPLE_RATE },
  wav: { encoding: 'linear16', container: 'wav', sample_rate: SAMPLE_RATE },
};

/**
 * Speech over Deepgram's wire protocol. A voice is a part of the model's name there: `aura-2` and `thalia-en` are sent as
 * `aura-2-thalia-en`. Text, voice and format are sent; the other settings of a voice have no counterpart.
 */
export class DeepgramSpeech implements SpeechPort {
  constructor(private readonly http: ProviderHttp) {}

  speak({ text, voiceId, format }: SpeechCommand, context: AttemptContext): Promise<ProviderAudio> {
    const query = { model: `${context.upstreamModel}-${voiceId}`, ...FORMATS[format] };
    const body = jsonBody({ text });
    return requestAudio(
      this.http,
      { path: '/v1/speak', query, body, timeout: 'audio', context },
      format,
    );
  }
}
