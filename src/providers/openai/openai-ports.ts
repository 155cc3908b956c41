import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ModelList } from '../http/model-list.js';
import { ProviderHttp } from '../http/provider-http.js';
import { TurnDialogue } from '../http/turn-dialogue.js';
import type { ProbedPorts } from '../ports/provider-ports.js';
import { OpenAiText } from './openai-text.adapter.js';
import { OpenAiEmbeddings } from './openai-embedding.adapter.js';
import { OpenAiImage } from './openai-image.adapter.js';
import { OpenAiSpeech } from './openai-speech.adapter.js';
import { OpenAiTranscription } from './openai-transcription.adapter.js';

/** Everything that a provider with the OpenAI wire protocol can do. Its base URL includes `/v1`. */
export function openAiPorts(access: ProviderContext): ProbedPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'authorization', 'Bearer '),
  });
  const speech = new OpenAiSpeech(http);
  return {
    probe: new ModelList(http, { path: '/models', field: 'data', name: 'id' }),
    chat: new OpenAiText(http),
    image: new OpenAiImage(http),
    embeddings: new OpenAiEmbeddings(http),
    speech,
    dialogue: new TurnDialogue(speech, http),
    transcription: new OpenAiTranscription(http),
  };
}
