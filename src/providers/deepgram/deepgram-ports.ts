import { ModelList } from '../http/model-list.js';
import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProbedPorts } from '../ports/provider-ports.js';
import { DeepgramSpeech } from './deepgram-speech.adapter.js';
import { DeepgramTranscription } from './deepgram-transcription.adapter.js';

/** Everything that a provider with Deepgram's wire protocol can do. Its base URL has no path. */
export function deepgramPorts(access: ProviderContext): ProbedPorts {
  const http = new ProviderHttp(access, { headers: keyHeader(access, 'authorization', 'Token ') });
  return {
    // The list has the names of whole families of models, which are not those that a request names.
    probe: new ModelList(http, {
      path: '/v1/models',
      field: 'stt',
      name: 'name',
      hasMore: () => true,
    }),
    speech: new DeepgramSpeech(http),
    transcription: new DeepgramTranscription(http),
  };
}
