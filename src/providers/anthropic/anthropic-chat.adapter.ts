import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { UpstreamRequest } from '../http/upstream-request.js';
import type { AttemptContext } from '../ports/attempt.js';
import {
  type ChatCommand,
  type ChatPort,
  type ChatResult,
  type ChatStream,
  MAX_COMPLETION_BYTES,
  MAX_COMPLETION_VALUES,
} from '../ports/chat.port.js';
import type { Conversation } from '../ports/conversation.js';
import { openChatStream } from '../text/open-chat-stream.js';
import { answerOf } from './message-answer.js';
import { MessageEventReader } from './message-event-reader.js';
import { messagesBody } from './messages-body.js';
import { RefusedSettings } from './refused-settings.js';
import { fittedThinking } from './thinking.js';

/** The one header of a caller that the vendor gets: the names of features that are being tried out. */
const BETA = 'anthropic-beta';

/** A request in the vendor's form, and what its answer needs to be read. */
interface Sent {
  readonly body: JsonObject;
  readonly isNative: boolean;
  readonly customTools: ReadonlySet<string>;
}

/** Chat over Anthropic's Messages. A caller of the same protocol gets the vendor's own blocks and events. */
export class AnthropicChat implements ChatPort {
  private readonly refusals = new RefusedSettings();

  constructor(private readonly http: ProviderHttp) {}

  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult> {
    return this.send(command, context, ({ body, isNative, customTools }) =>
      this.http.requestJson(
        requestOf(body, command, context),
        MAX_COMPLETION_BYTES,
        (message, providerRequestId) => {
          const answer = answerOf(message, isNative, customTools);
          return answer && { answer, providerRequestId };
        },
        MAX_COMPLETION_VALUES,
      ),
    );
  }

  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream> {
    return this.send(command, context, ({ body, isNative, customTools }) => {
      const request = requestOf({ ...body, stream: true }, command, context);
      return openChatStream(this.http, request, new MessageEventReader(isNative, customTools));
    });
  }

  private send<T>(
    command: ChatCommand,
    { upstreamModel }: AttemptContext,
    send: (sent: Sent) => Promise<T>,
  ): Promise<T> {
    if (command.protocol === 'messages') {
      const body = { ...nativeBodyOf(command), model: upstreamModel };
      return send({ body, isNative: true, customTools: new Set() });
    }
    const conversation = command.conversation();
    if (hasRecording(conversation)) return Promise.reject(this.http.refusal('audio_not_supported'));
    const customTools = customToolsOf(conversation);
    return this.refusals.send(upstreamModel, (refused) => {
      const body = messagesBody(conversation, command.maxTokens, refused);
      return send({ body: { model: upstreamModel, ...body }, isNative: false, customTools });
    });
  }
}

function requestOf(
  body: JsonObject,
  { protocol, nativeHeaders = {} }: ChatCommand,
  context: AttemptContext,
): UpstreamRequest {
  const beta = nativeHeaders[BETA];
  return {
    method: 'POST',
    path: '/v1/messages',
    body: jsonBody(body),
    ...(protocol === 'messages' && beta !== undefined && { headers: { [BETA]: beta } }),
    timeout: 'chat',
    context,
  };
}

function nativeBodyOf({ native, maxTokens }: ChatCommand): JsonObject {
  const { thinking, ...fields } = native;
  const fitted = isJsonObject(thinking) ? fittedThinking(thinking, maxTokens) : thinking;
  return { ...fields, ...(fitted !== undefined && { thinking: fitted }), max_tokens: maxTokens };
}

function customToolsOf({ tools }: Conversation): ReadonlySet<string> {
  return new Set(tools.filter(({ kind }) => kind === 'custom').map(({ name }) => name));
}

/** The vendor takes no recordings. */
function hasRecording({ messages }: Conversation): boolean {
  return messages.some(
    (message) => message.role === 'user' && message.parts.some(({ type }) => type === 'audio'),
  );
}
