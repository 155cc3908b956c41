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
} from '../ports/chat.port.js';
import { OpenAiChatStream } from './openai-chat-stream.js';
import { RejectedParameters } from './rejected-parameters.js';
import { usageOf } from './openai-usage.js';

/** Chat over the OpenAI wire protocol. */
export class OpenAiChat implements ChatPort {
  private readonly refusals = new RejectedParameters();

  constructor(private readonly http: ProviderHttp) {}

  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult> {
    const wanted = { outputCapParameter: outputCapParameterOf(command, context), asksUsage: false };
    return this.refusals.send(context.upstreamModel, wanted, ({ outputCapParameter }) => {
      const body = chatBody(command, context, outputCapParameter);
      const request = chatRequest(body, context);
      return this.http.requestJson(request, MAX_COMPLETION_BYTES, toResult, MAX_COMPLETION_VALUES);
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
        return this.openStream(chatRequest(body, context));
      },
    );
  }

  private async openStream(request: UpstreamRequest): Promise<ChatStream> {
    const response = await this.http.request(request);
    const unusable = (code: string, event?: unknown) => this.http.unusable(response, code, event);
    const stream = new OpenAiChatStream(response.body, unusable, undefined, request.context.owner);
    // The code that reads the stream gets the error. Until it starts reading, this listener prevents an uncaught error.
    stream.on('error', () => undefined);
    await stream.firstChunk();
    return { body: stream, providerRequestId: response.providerRequestId, unusable };
  }
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
  { messages, maxTokens, parameters }: ChatCommand,
  { upstreamModel }: AttemptContext,
  outputCapParameter: string,
): object {
  // The cap comes last, because callers may send a field with the name that the row uses for it.
  return { model: upstreamModel, messages, ...parameters, [outputCapParameter]: maxTokens };
}

/**
 * Undefined for a response without a choice, with an error (also in place of a choice), or with too many tool calls:
 * that is a failure.
 */
function toResult(
  completion: JsonObject,
  providerRequestId: string | null,
): ChatResult | undefined {
  const choices = listAt(completion, 'choices') ?? [];
  if (choices.length === 0 || carriesError(completion)) return undefined;
  if (choices.some(({ message }) => hasTooManyCalls(message))) return undefined;
  return { completion, usage: usageOf(completion), providerRequestId };
}

function hasTooManyCalls(message: unknown): boolean {
  const calls = isJsonObject(message) ? message.tool_calls : undefined;
  return Array.isArray(calls) && calls.length > MAX_TOOL_CALLS;
}
