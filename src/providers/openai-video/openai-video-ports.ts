import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProviderPorts } from '../ports/provider-ports.js';
import { OpenAiVideo } from './openai-video.adapter.js';

/** What a provider with a `/videos` API like OpenAI's can do. Its base URL includes `/v1`. */
export function openAiVideoPorts(access: ProviderContext): ProviderPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'authorization', 'Bearer '),
  });
  return { video: new OpenAiVideo(http) };
}
