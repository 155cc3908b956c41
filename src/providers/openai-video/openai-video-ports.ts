import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ModelList } from '../http/model-list.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProbedPorts } from '../ports/provider-ports.js';
import { OpenAiVideo } from './openai-video.adapter.js';

/** What a provider with a `/videos` API like OpenAI's can do. Its base URL includes `/v1`. */
export function openAiVideoPorts(access: ProviderContext): ProbedPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'authorization', 'Bearer '),
  });
  const probe = new ModelList(http, { path: '/models', field: 'data', name: 'id' });
  return { probe, video: new OpenAiVideo(http) };
}
