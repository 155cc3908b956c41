import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { listAt } from '../http/json-fields.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { finishReasonOf, missingReason } from '../ports/finish-reason.js';
import { calledToolOf, wholeCallsOf } from '../text/tool-calls.js';
import { knownFieldsOf } from '../text/message-fields.js';

/** The parts of a whole choice. */
export function partsOfChoice(choice: JsonObject): ChatPart[] {
  const message = isJsonObject(choice.message) ? choice.message : {};
  const calls = wholeCallsOf(message.tool_calls);
  const hasCalls = calls.length > 0;
  const reason = finishReasonOf(choice, hasCalls) ?? missingReason(hasCalls);
  const ofCalls = calls.flatMap(partsOfCall);
  return [...saidPartsOf(message, choice), ...ofCalls, { type: 'finish', reason }];
}

function partsOfCall(call: JsonObject, index: number): ChatPart[] {
  const { kind, name, text, sealed } = calledToolOf(call);
  const id = call.id as string;
  return [
    { type: 'tool-call', index, id, kind, name, ...(sealed && { sealed }) },
    { type: 'tool-arguments', index, delta: text },
    { type: 'tool-end', index },
  ];
}

/** What a message or a delta of a choice says in words, as parts: reasoning first. */
export function saidPartsOf(message: JsonObject, { logprobs }: JsonObject): ChatPart[] {
  const { content, refusal, reasoning, reasoning_content } = knownFieldsOf(message);
  const parts: ChatPart[] = [];
  const thought = textOf(reasoning_content) || textOf(reasoning);
  const text = textOf(content);
  const refused = textOf(refusal);
  if (thought !== '') parts.push({ type: 'reasoning', text: thought });
  if (text !== '') {
    const tokens = isJsonObject(logprobs) ? listAt(logprobs, 'content') : null;
    parts.push({ type: 'text', text, ...(tokens && { logprobs: tokens }) });
  }
  if (refused !== '') parts.push({ type: 'refusal', text: refused });
  return parts;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
