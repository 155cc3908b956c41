import type { JsonObject } from '../../common/json-object.js';
import { jsonBody } from '../http/request-body.js';
import type { ProviderHttp } from '../http/provider-http.js';
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
import { openChatStream } from '../text/open-chat-stream.js';
import { EncryptedReasoning } from './encrypted-reasoning.js';
import { answerOfResponse } from './response-answer.js';
import { responsesBodyOf } from './responses-body.js';
import { ResponseEventReader } from './response-event-reader.js';

/** OpenAI refuses a smaller cap. The charge stays within what the caller's own cap holds. */
const MIN_OUTPUT_TOKENS = 16;
const SEALED = 'reasoning.encrypted_content';
const LOGPROBS = 'message.output_text.logprobs';

/**
 * Text over OpenAI's Responses. Nothing is stored at the vendor: each request has the whole conversation, and reasoning comes
 * and goes encrypted. Callers of the same protocol get the vendor's own items and events.
 */
export class OpenAiResponses implements ChatPort {
  private readonly reasoning = new EncryptedReasoning();

  constructor(private readonly http: ProviderHttp) {}

  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult> {
    return this.reasoning.send(context.upstreamModel, (isEncrypted) => {
      const request = requestOf(bodyOf(command, context, isEncrypted), context);
      const read = (response: JsonObject, providerRequestId: string | null) => {
        const answer = answerOfResponse(response, isNative(command));
        return answer && { answer, providerRequestId };
      };
      return this.http.requestJson(request, MAX_COMPLETION_BYTES, read, MAX_COMPLETION_VALUES);
    });
  }

  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream> {
    return this.reasoning.send(context.upstreamModel, (isEncrypted) => {
      const body = { ...bodyOf(command, context, isEncrypted), stream: true };
      const reader = new ResponseEventReader(isNative(command));
      return openChatStream(this.http, requestOf(body, context), reader);
    });
  }
}

function isNative({ protocol }: ChatCommand): boolean {
  return protocol === 'responses';
}

function requestOf(body: JsonObject, context: AttemptContext): UpstreamRequest {
  return { method: 'POST', path: '/responses', body: jsonBody(body), timeout: 'chat', context };
}

function bodyOf(
  command: ChatCommand,
  { upstreamModel }: AttemptContext,
  isEncrypted: boolean,
): JsonObject {
  const { native, conversation, maxTokens } = command;
  const fields = isNative(command) ? native : responsesBodyOf(conversation());
  const include = [
    ...(isEncrypted ? [SEALED] : []),
    ...(typeof fields.top_logprobs === 'number' ? [LOGPROBS] : []),
  ];
  return {
    model: upstreamModel,
    ...fields,
    max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxTokens),
    store: false,
    ...(include.length > 0 && { include }),
  };
}
