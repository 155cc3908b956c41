import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { finishReasonOf, missingReason } from '../providers/ports/finish-reason.js';
import { knownFieldsOf } from '../providers/text/message-fields.js';
import { wholeCallsOf } from '../providers/text/tool-calls.js';

/** The fields that every object of one response has. */
export interface CompletionHead {
  readonly id: string;
  /** Epoch seconds. */
  readonly created: number;
  /** The gateway's name of the model. */
  readonly model: string;
}

/** Ten digits are the years 2001 to 2286. A time in milliseconds has thirteen digits and is not accepted. */
function isEpochSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && /^[1-9]\d{9}$/.test(String(value));
}

/**
 * The head of a response. The time is the provider's, else that of `own`; id and model name are always the gateway's.
 */
export function headOf({ created }: JsonObject, own: CompletionHead): CompletionHead {
  return isEpochSeconds(created) ? { ...own, created } : own;
}

/** The chat completion object (API: Chat completion object), with known fields only (decision G-96). */
export function completionOf(
  { id, created, model }: CompletionHead,
  completion: JsonObject,
  usage: JsonObject,
): JsonObject {
  const choices = choicesOf(completion).map(wholeChoice);
  const head = { id, object: 'chat.completion', created, model, system_fingerprint: null };
  return { ...head, choices, usage };
}

function wholeChoice(choice: JsonObject, position: number): JsonObject {
  const message = isJsonObject(choice.message) ? choice.message : {};
  const calls = wholeCallsOf(message.tool_calls);
  const hasCalls = calls.length > 0;
  return {
    index: indexOf(choice, position),
    message: {
      role: 'assistant',
      content: null,
      ...knownFieldsOf(message),
      ...(hasCalls && { tool_calls: calls }),
    },
    logprobs: logprobsOf(choice),
    finish_reason: finishReasonOf(choice, hasCalls) ?? missingReason(hasCalls),
  };
}

/** The choices of a completion or a chunk. */
export function choicesOf({ choices }: JsonObject): readonly JsonObject[] {
  return Array.isArray(choices) ? choices.filter(isJsonObject) : [];
}

/** The index of a choice; its position in the list if it has no valid one. */
export function indexOf({ index }: JsonObject, position: number): number {
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : position;
}

/** The log probabilities of a choice; null without them. */
export function logprobsOf({ logprobs }: JsonObject): JsonObject | null {
  return isJsonObject(logprobs) ? logprobs : null;
}
