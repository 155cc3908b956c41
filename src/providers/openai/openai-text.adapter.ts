import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { ChatCommand, ChatPort, ChatResult, ChatStream } from '../ports/chat.port.js';
import { OpenAiChat } from './openai-chat.adapter.js';
import { OpenAiResponses } from './openai-responses.adapter.js';

/** Text in the protocol that the route names: chat completions, or responses. */
export class OpenAiText implements ChatPort {
  private readonly chat: ChatPort;
  private readonly responses: ChatPort;

  constructor(http: ProviderHttp) {
    this.chat = new OpenAiChat(http);
    this.responses = new OpenAiResponses(http);
  }

  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult> {
    return this.portFor(context).complete(command, context);
  }

  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream> {
    return this.portFor(context).stream(command, context);
  }

  private portFor({ upstreamProtocol }: AttemptContext): ChatPort {
    return upstreamProtocol === 'responses' ? this.responses : this.chat;
  }
}
