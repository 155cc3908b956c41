import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ModelList } from '../http/model-list.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProbedPorts } from '../ports/provider-ports.js';
import { GeminiChat } from './gemini-chat.adapter.js';
import { GeminiEmbeddings } from './gemini-embedding.adapter.js';
import { ownGeminiErrors } from './gemini-errors.js';
import { GeminiImage } from './gemini-image.adapter.js';
import { GeminiSpeech } from './gemini-speech.adapter.js';
import { GeminiVideo } from './gemini-video.adapter.js';

/** The name becomes a part of the path. */
const MODEL_NAME = /^[\w.-]{1,200}$/;

/** Everything that a provider with the wire protocol of Gemini's API can do. */
export function geminiPorts(access: ProviderContext): ProbedPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'x-goog-api-key'),
    ownErrors: ownGeminiErrors,
  });
  const speech = new GeminiSpeech(http);
  const probe = new ModelList(http, {
    path: '/models?pageSize=1000',
    field: 'models',
    name: 'name',
    prefix: 'models/',
    hasMore: (json) => typeof json.nextPageToken === 'string',
  });
  return {
    probe,
    chat: new GeminiChat(http),
    embeddings: new GeminiEmbeddings(http),
    image: new GeminiImage(http),
    speech,
    dialogue: speech,
    video: new GeminiVideo(http, access),
  };
}

/** Whether a request can name the model: its name without `models/`. */
export function isGeminiModel(name: string): boolean {
  return MODEL_NAME.test(name) && !/^\.+$/.test(name);
}
