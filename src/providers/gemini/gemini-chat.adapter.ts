import type { JsonObject } from '../../common/json-object.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext } from '../ports/attempt.js';
import {
  type ChatCommand,
  type ChatPort,
  type ChatResult,
  type ChatStream,
  MAX_COMPLETION_BYTES,
  MAX_COMPLETION_VALUES,
  PartsEvent,
} from '../ports/chat.port.js';
import type { Conversation } from '../ports/conversation.js';
import { openChatStream } from '../text/open-chat-stream.js';
import {
  type GenerateContent,
  generateContent,
  streamGenerateContent,
} from './generate-content.js';
import { GeminiAnswer } from './gemini-answer.js';
import { candidateOf } from './gemini-candidate.js';
import {
  geminiContentsOf,
  ImageWithoutBytesError,
  systemInstructionOf,
} from './gemini-contents.js';
import { brokenCallOf } from './gemini-errors.js';
import { GeminiEventReader } from './gemini-event-reader.js';
import { generationConfigOf } from './gemini-generation.js';
import { needsSignatures } from './gemini-thinking.js';
import { toolConfigOf, declaredToolsOf } from './gemini-tools.js';
import { geminiUsageOf } from './gemini-usage.js';

/** The roles of messages that are instructions. */
const INSTRUCTORS: readonly string[] = ['system', 'developer'];

/** Text over Gemini's `generateContent`. No caller speaks this protocol, so that every request is made of neutral parts. */
export class GeminiChat implements ChatPort {
  constructor(private readonly http: ProviderHttp) {}

  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult> {
    const conversation = command.conversation();
    const body = this.bodyOf(conversation, command.maxTokens, context);
    return this.http.requestJson(
      generateContent(body, 'chat', context),
      MAX_COMPLETION_BYTES,
      (json, providerRequestId) => toResult(json, answerTo(conversation), providerRequestId),
      MAX_COMPLETION_VALUES,
    );
  }

  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream> {
    const conversation = command.conversation();
    const body = this.bodyOf(conversation, command.maxTokens, context);
    const reader = new GeminiEventReader(answerTo(conversation));
    return openChatStream(this.http, streamGenerateContent(body, context), reader);
  }

  private bodyOf(
    conversation: Conversation,
    maxTokens: number,
    { upstreamModel }: AttemptContext,
  ): GenerateContent {
    const contents = this.contentsOf(conversation, upstreamModel);
    const isAllInstructions = conversation.messages.every(({ role }) => INSTRUCTORS.includes(role));
    return {
      contents,
      systemInstruction: isAllInstructions ? undefined : systemInstructionOf(conversation),
      tools: declaredToolsOf(conversation),
      toolConfig: toolConfigOf(conversation),
      generationConfig: generationConfigOf(conversation, maxTokens, upstreamModel),
    };
  }

  private contentsOf(conversation: Conversation, upstreamModel: string) {
    try {
      return geminiContentsOf(conversation, needsSignatures(upstreamModel));
    } catch (error) {
      if (!(error instanceof ImageWithoutBytesError)) throw error;
      throw this.http.refusal('image_without_bytes');
    }
  }
}

function answerTo({ tools }: Conversation): GeminiAnswer {
  const custom = tools.filter(({ kind }) => kind === 'custom').map(({ name }) => name);
  return new GeminiAnswer(new Set(custom));
}

/** Undefined for an answer without a candidate, and for one that is nothing but a call that is none: those are failures. */
function toResult(
  json: JsonObject,
  answer: GeminiAnswer,
  providerRequestId: string | null,
): ChatResult | undefined {
  const candidate = candidateOf(json);
  if (candidate === undefined || brokenCallOf(candidate) !== null) return undefined;
  const parts = answer.partsIn(candidate);
  if (parts === undefined) return undefined;
  const reason = answer.reasonOf(candidate);
  if (reason === null && parts.length === 0) return undefined;
  parts.push({ type: 'finish', reason: reason ?? answer.missingReason });
  return { answer: new PartsEvent(parts, geminiUsageOf(json)), providerRequestId };
}
