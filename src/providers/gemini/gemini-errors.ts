import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { OwnErrors } from '../http/error-classification.js';
import { textAt } from '../http/json-fields.js';
import { candidateOf, candidateParts } from './gemini-candidate.js';

/** Ends by which the vendor keeps back what it made, or makes nothing: a refusal of the request. */
const REFUSALS: ReadonlySet<string> = new Set([
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
  ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'IMAGE_OTHER', 'NO_IMAGE'],
]);

/** How the vendor says that a prompt does not fit. Before it there is no text of the caller. */
const TOO_LONG = /^The input token count\b.{0,40}\bexceeds the maximum number of tokens allowed/i;

/** Whether a `finishReason` means that the vendor refused to go on. */
export function isRefusal(finishReason: string): boolean {
  return REFUSALS.has(finishReason);
}

/** Whether a `finishReason` means that the model wrote a call that is none, or one that it was not allowed to make. */
function isBrokenCall(finishReason: string): boolean {
  return /_(FUNCTION|TOOL)_CALLS?$/.test(finishReason);
}

/** Why an answer that says nothing ended, if the model broke a call off; null for any other answer. */
export function brokenCallOf(candidate: JsonObject | undefined): string | null {
  const { finishReason } = candidate ?? {};
  if (typeof finishReason !== 'string' || !isBrokenCall(finishReason)) return null;
  return candidateParts(candidate).length === 0 ? finishReason : null;
}

/** Why the prompt was blocked; null where it was not. A blocked prompt has no candidates. */
export function blockReasonOf(answer: JsonObject): string | null {
  const { promptFeedback } = answer;
  if (!isJsonObject(promptFeedback) || candidateOf(answer) !== undefined) return null;
  return textAt(promptFeedback, 'blockReason');
}

/**
 * What only this protocol says about a failure. A 200 may have a blocked prompt, which has no candidates, or a candidate
 * without anything; both are refusals of the request. `FAILED_PRECONDITION` is about the operator's account: its region,
 * or its billing. A prompt that is too long has only the status of every bad request: its sentence names it.
 */
export const ownGeminiErrors: OwnErrors = (status, body) => {
  if (!isJsonObject(body)) return undefined;
  const { error } = body;
  if (isJsonObject(error)) return status === 400 ? badRequestOf(error) : undefined;
  const blockReason = blockReasonOf(body);
  if (blockReason !== null) return { kind: 'rejected', code: blockReason };
  const finishReason = candidateOf(body)?.finishReason;
  if (typeof finishReason !== 'string') return undefined;
  if (isRefusal(finishReason)) return { kind: 'rejected', code: finishReason };
  return isBrokenCall(finishReason) ? { kind: 'http_error', code: finishReason } : undefined;
};

function badRequestOf({ status, message }: JsonObject): ReturnType<OwnErrors> {
  const text = typeof message === 'string' ? { message } : {};
  if (status === 'FAILED_PRECONDITION') return { kind: 'account', code: status, ...text };
  if (!TOO_LONG.test(text.message ?? '')) return undefined;
  return { kind: 'rejected', code: 'context_length_exceeded', ...text };
}
