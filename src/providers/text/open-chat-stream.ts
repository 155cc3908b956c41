import type { ProviderHttp } from '../http/provider-http.js';
import type { UpstreamRequest } from '../http/upstream-request.js';
import type { ChatStream } from '../ports/chat.port.js';
import { type ChatEventReader, ChatEventStream } from './chat-event-stream.js';

/**
 * Sends the request for a streamed answer, and resolves when its first event has arrived. Rejects with the `ProviderError`
 * of a provider that refused or broke off before it.
 */
export async function openChatStream(
  http: ProviderHttp,
  request: UpstreamRequest,
  reader: ChatEventReader,
): Promise<ChatStream> {
  const response = await http.request(request);
  const unusable = (code: string, event?: unknown) => http.unusable(response, code, event);
  const { owner } = request.context;
  const stream = new ChatEventStream(response.body, reader, unusable, undefined, owner);
  // The code that reads the stream gets the error. Until it starts reading, this listener prevents an uncaught error.
  stream.on('error', () => undefined);
  await stream.firstEvent();
  return { body: stream, providerRequestId: response.providerRequestId, unusable };
}
