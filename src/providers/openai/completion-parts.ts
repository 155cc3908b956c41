import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { finishReasonOf, missingReason } from '../ports/finish-reason.js';
import { calledToolOf } from '../text/called-tool.js';
import { wholeCallsOf } from '../text/tool-calls.js';
import { saidPartsOf } from './said-parts.js';

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
