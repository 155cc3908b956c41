import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { carriesError } from '../http/error-facts.js';
import { listAt, textAt } from '../http/json-fields.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { type ChatEvent, PartsEvent } from '../ports/chat.port.js';
import { finishReasonOf, missingReason } from '../ports/finish-reason.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import { BlockParts } from './block-parts.js';
import { messageUsageOf } from './message-usage.js';

/** The finish of a message, from what has its reason: the message itself or its last deltas. */
export function finishOf(ending: JsonObject, hasCalls: boolean): ChatPart {
  const reason = finishReasonOf({ finish_reason: ending.stop_reason }, hasCalls);
  const stop = textAt(ending, 'stop_sequence');
  return {
    type: 'finish',
    reason: reason ?? missingReason(hasCalls),
    ...(reason !== null && stop !== null && { stopSequence: stop }),
  };
}

/** A whole message as one event; undefined for what is none, which is a failure. */
export function answerOf(
  message: JsonObject,
  isNative: boolean,
  customTools: ReadonlySet<string>,
): ChatEvent | undefined {
  const content = listAt(message, 'content');
  const isError = carriesError(message) || message.stop_reason === 'error';
  const parts = content === null || isError ? null : partsOf(content, customTools);
  if (parts === null) return undefined;
  const hasCalls = parts.some(({ type }) => type === 'tool-call');
  parts.push(finishOf(message, hasCalls));
  const usage = isJsonObject(message.usage) ? messageUsageOf(message.usage) : null;
  return new PartsEvent(parts, usage, isNative ? message : null);
}

/** Null where a block cannot be read. */
function partsOf(
  content: readonly JsonObject[],
  customTools: ReadonlySet<string>,
): ChatPart[] | null {
  const blocks = new BlockParts(customTools);
  try {
    return content.flatMap((block) => blocks.whole(block));
  } catch (error) {
    if (error instanceof UnusableAnswer) return null;
    throw error;
  }
}
