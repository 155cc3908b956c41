import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { carriesError } from '../http/error-facts.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { type ChatEvent, PartsEvent } from '../ports/chat.port.js';
import { finishReasonOf, missingReason } from '../ports/finish-reason.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import { usageOf } from '../text/token-usage.js';
import { outputOf, ResponseParts } from './response-parts.js';

/** The states in which a response is an answer. */
const ENDED: readonly unknown[] = ['completed', 'incomplete'];

/** A whole response as one event; undefined for what is none, which is a failure. */
export function answerOfResponse(response: JsonObject, isNative: boolean): ChatEvent | undefined {
  if (!ENDED.includes(response.status) || carriesError(response)) return undefined;
  try {
    const parts = endingOf(response, new ResponseParts());
    return parts && new PartsEvent(parts, usageOf(response), isNative ? response : null);
  } catch (error) {
    if (error instanceof UnusableAnswer) return undefined;
    throw error;
  }
}

/**
 * What is still to be told of a response that has ended, and its finish; undefined where it has no items. Throws
 * {@link UnusableAnswer}.
 */
export function endingOf(response: JsonObject, told: ResponseParts): ChatPart[] | undefined {
  const output = outputOf(response);
  if (output === null) return undefined;
  const rest = told.rest(output);
  return [...rest, { type: 'finish', reason: reasonOf(response, told.hasCalls) }];
}

function reasonOf({ status, incomplete_details: details }: JsonObject, hasCalls: boolean) {
  if (status !== 'incomplete') return missingReason(hasCalls);
  const reason = isJsonObject(details) ? details.reason : undefined;
  return finishReasonOf({ finish_reason: reason }, hasCalls) ?? 'length';
}
