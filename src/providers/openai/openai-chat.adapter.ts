import type { JsonObject } from '../../common/json-object.js';
import type { StopSignal } from '../../common/stop-signal.js';
import { listAt } from '../http/json-fields.js';
import type { ProviderHttp, UpstreamRequest } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { UpstreamTimeoutName } from '../http/upstream-timeouts.js';
import type { AttemptContext } from '../ports/attempt-context.js';
import {
  type ChatCommand,
  type ChatPort,
  type ChatResult,
  type ChatStream,
  MAX_COMPLETION_BYTES,
  MAX_COMPLETION_VALUES,
} from '../ports/chat.port.js';
import { OpenAiChatStream } from './openai-chat-stream.js';
import { usageOf } from './openai-usage.js';

/** Models that refuse `max_tokens` and take `max_completion_tokens` instead. */
const REASONING_MODELS = /^(gpt-5|o\d)/;

/** Chat over the OpenAI wire protocol. */
export class OpenAiChat implements ChatPort {
  constructor(private readonly http: ProviderHttp) {}

  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult> {
    const body = chatBody(command, context.upstreamModel);
    const request = chatRequest(body, 'chat', context.signal);
    return this.http.requestJson(request, MAX_COMPLETION_BYTES, toResult, MAX_COMPLETION_VALUES);
  }

  async stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream> {
    const body = {
      stream: true,
      stream_options: { include_usage: true },
      ...chatBody(command, context.upstreamModel),
    };
    const answer = await this.http.request(chatRequest(body, 'chatStream', context.signal));
    const stream = new OpenAiChatStream(answer.body, (code, kind) =>
      this.http.unusable(answer, code, kind),
    );
    // The reader gets the error. Between the first chunk and the reading there is no reader.
    stream.on('error', () => undefined);
    await stream.firstChunk();
    return { body: stream, providerRequestId: answer.providerRequestId };
  }
}

function chatRequest(
  body: object,
  timeout: UpstreamTimeoutName,
  signal: StopSignal,
): UpstreamRequest {
  return { method: 'POST', path: '/chat/completions', body: jsonBody(body), timeout, signal };
}

function chatBody({ messages, maxTokens, parameters }: ChatCommand, upstreamModel: string): object {
  const limit = REASONING_MODELS.test(upstreamModel) ? 'max_completion_tokens' : 'max_tokens';
  return { model: upstreamModel, messages, [limit]: maxTokens, ...parameters };
}

/** Undefined for an answer without a choice, which is a failure. */
function toResult(
  completion: JsonObject,
  providerRequestId: string | null,
): ChatResult | undefined {
  if (!listAt(completion, 'choices')?.length) return undefined;
  return { completion, usage: usageOf(completion), providerRequestId };
}
