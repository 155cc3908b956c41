import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { carriesError } from '../http/error-facts.js';
import { listAt } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { UpstreamRequest } from '../http/upstream-request.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import {
  type ChatCommand,
  type ChatPort,
  type ChatResult,
  type ChatStream,
  MAX_COMPLETION_BYTES,
  MAX_COMPLETION_VALUES,
  MAX_TOOL_CALLS,
  PartsEvent,
} from '../ports/chat.port.js';
import { openChatStream } from '../text/open-chat-stream.js';
import { ChunkParts } from './chunk-parts.js';
import { partsOfChoice } from './completion-parts.js';
import { chatBodyOf } from './conversation-body.js';
import { NativeChat } from './native-chat.js';
import { OpenAiChunkReader } from './openai-chunk-reader.js';
import { usageOf } from '../text/token-usage.js';
import { RejectedParameters } from './rejected-parameters.js';

/** Text over OpenAI's protocol of chat completions. Callers of the chat face get its objects as they are. */
export class OpenAiChat implements ChatPort {
  private readonly refusals = new RejectedParameters();

  constructor(private readonly http: ProviderHttp) {}

  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult> {
    const wanted = { outputCapParameter: outputCapParameterOf(command, context), asksUsage: false };
    return this.refusals.send(context.upstreamModel, wanted, ({ outputCapParameter }) => {
      const body = chatBody(command, context, outputCapParameter);
      const request = chatRequest(body, context);
      const read = (completion: JsonObject, providerRequestId: string | null) =>
        toResult(completion, isNative(command), providerRequestId);
      return this.http.requestJson(request, MAX_COMPLETION_BYTES, read, MAX_COMPLETION_VALUES);
    });
  }

  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream> {
    const wanted = {
      outputCapParameter: outputCapParameterOf(command, context),
      asksUsage: context.terms?.streamUsage !== false,
    };
    return this.refusals.send(
      context.upstreamModel,
      wanted,
      ({ outputCapParameter, asksUsage }) => {
        const body = {
          stream: true,
          stream_options: asksUsage ? { include_usage: true } : undefined,
          ...chatBody(command, context, outputCapParameter),
        };
        const reader = new OpenAiChunkReader(isNative(command) ? undefined : new ChunkParts());
        return openChatStream(this.http, chatRequest(body, context), reader);
      },
    );
  }
}

function isNative({ protocol }: ChatCommand): boolean {
  return protocol === 'chat';
}

function chatRequest(body: object, context: AttemptContext): UpstreamRequest {
  const path = '/chat/completions';
  return { method: 'POST', path, body: jsonBody(body), timeout: 'chat', context };
}

/** The parameter name of the cap: the row's, else the caller's, else the older one, which most upstreams know. */
function outputCapParameterOf(
  { outputCapParameter }: ChatCommand,
  { terms }: AttemptContext,
): string {
  return terms?.outputCapParameter ?? outputCapParameter ?? 'max_tokens';
}

function chatBody(
  command: ChatCommand,
  { upstreamModel }: AttemptContext,
  outputCapParameter: string,
): object {
  const { native, conversation, maxTokens } = command;
  const fields = isNative(command) ? native : chatBodyOf(conversation());
  // The cap comes last, because callers may send a field with the name that the row uses for it.
  return { model: upstreamModel, ...fields, [outputCapParameter]: maxTokens };
}

/**
 * Undefined for a response without a choice, with an error (also in place of a choice), or with too many tool calls:
 * that is a failure.
 */
function toResult(
  completion: JsonObject,
  isNativeCall: boolean,
  providerRequestId: string | null,
): ChatResult | undefined {
  const choices = listAt(completion, 'choices') ?? [];
  const [first] = choices;
  if (first === undefined || carriesError(completion)) return undefined;
  if (choices.some(({ message }) => hasTooManyCalls(message))) return undefined;
  const usage = usageOf(completion);
  const answer = isNativeCall
    ? new NativeChat(completion, usage, choices, 'message')
    : new PartsEvent(partsOfChoice(first), usage);
  return { answer, providerRequestId };
}

function hasTooManyCalls(message: unknown): boolean {
  const calls = isJsonObject(message) ? message.tool_calls : undefined;
  return Array.isArray(calls) && calls.length > MAX_TOOL_CALLS;
}
