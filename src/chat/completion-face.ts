import type { JsonObject } from '../common/json-object.js';
import type { ChatEvent } from '../providers/ports/chat.port.js';
import type { AnswerFace, Bill } from '../text/text-face.js';
import { type CompletionHead, completionOf, headOf } from './completion.mapper.js';
import { choiceOf } from './part-choices.js';
import { viewChatUsage } from './usage.view.js';

/** Chat completions as one JSON object (API: POST /v1/chat/completions). */
export class CompletionFace implements AnswerFace {
  /** `own` names the answer; the time of a provider that speaks the same protocol takes precedence. */
  constructor(private readonly own: CompletionHead) {}

  answer({ native, parts }: ChatEvent, bill: Bill): JsonObject {
    const completion = native ?? { choices: [choiceOf(parts)] };
    return completionOf(headOf(completion, this.own), completion, viewChatUsage(bill));
  }
}
