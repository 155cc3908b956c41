import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProviderPorts } from '../ports/provider-ports.js';
import { OpenAiText } from './openai-text.adapter.js';
import { OpenAiEmbeddings } from './openai-embedding.adapter.js';
import { OpenAiImage } from './openai-image.adapter.js';
import { OpenAiSpeech } from './openai-speech.adapter.js';
import { OpenAiTranscription } from './openai-transcription.adapter.js';

/** Everything that a provider with the OpenAI wire protocol can do. Its base URL includes `/v1`. */
export function openAiPorts(access: ProviderContext): ProviderPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'authorization', 'Bearer '),
  });
  return {
    chat: new OpenAiText(http),
    image: new OpenAiImage(http),
    embeddings: new OpenAiEmbeddings(http),
    speech: new OpenAiSpeech(http),
    transcription: new OpenAiTranscription(http),
  };
}
