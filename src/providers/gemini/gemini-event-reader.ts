import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../ports/chat-parts.js';
import type { FinishReason } from '../ports/finish-reason.js';
import { type ChatEvent, PartsEvent, type TokenUsage } from '../ports/chat.port.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import type { ChatEventReader, WhatFollows } from '../text/chat-event-stream.js';
import type { GeminiAnswer } from './gemini-answer.js';
import { candidateOf } from './gemini-candidate.js';
import { blockReasonOf, brokenCallOf } from './gemini-errors.js';
import { geminiUsageOf } from './gemini-usage.js';

const REFUSED = 400;
const BROKEN = 502;

/**
 * Reads the events of a streamed answer. It has no mark of its end: it is whole once its candidate has a finish reason,
 * which the usage comes with, as a rule.
 */
export class GeminiEventReader implements ChatEventReader {
  hasBegun = false;
  isWhole = false;
  follows: WhatFollows = 'more';
  private hasSaid = false;

  constructor(private readonly answer: GeminiAnswer) {}

  /**
   * A blocked prompt, and a call that the model could not write, if it said nothing before. What was said stands: the vendor
   * has counted it, and the answer ends.
   */
  errorIn(event: JsonObject): unknown {
    const reason = blockReasonOf(event);
    if (reason !== null) return { error: { code: REFUSED, status: reason } };
    const brokenCall = this.hasSaid ? null : brokenCallOf(candidateOf(event));
    return brokenCall === null ? undefined : { error: { code: BROKEN, status: brokenCall } };
  }

  read(event: JsonObject): ChatEvent | null {
    const candidate = candidateOf(event);
    const usage = geminiUsageOf(event);
    if (this.isWhole || candidate === undefined) return this.readUsage(usage);
    const parts = this.answer.partsIn(candidate);
    if (parts === undefined) throw new UnusableAnswer('bad_chunk');
    this.hasBegun = true;
    this.hasSaid ||= parts.length > 0;
    const reason = this.answer.reasonOf(candidate);
    if (reason !== null) this.end(parts, reason, usage);
    return parts.length === 0 && usage === null ? null : new PartsEvent(parts, usage);
  }

  /** After the end an event may bring the usage, and nothing else; before it, one without a candidate says nothing. */
  private readUsage(usage: TokenUsage | null): ChatEvent | null {
    if (usage === null || !this.isWhole) return null;
    this.follows = 'nothing';
    return new PartsEvent([], usage);
  }

  private end(parts: ChatPart[], reason: FinishReason, usage: TokenUsage | null): void {
    parts.push({ type: 'finish', reason });
    this.isWhole = true;
    this.follows = usage === null ? 'usage' : 'nothing';
  }
}
