import type { JsonObject } from '../../common/json-object.js';
import { listAt } from '../http/json-fields.js';
import { type ChatEvent, MAX_CHOICES } from '../ports/chat.port.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import type { ChatEventReader, WhatFollows } from '../text/chat-event-stream.js';
import { ChoiceEnds } from './choice-ends.js';
import type { ChunkParts } from './chunk-parts.js';
import { NativeChat } from './native-chat.js';
import { usageOf } from '../text/token-usage.js';

/**
 * Reads the chunks of a streamed completion. It is whole once every choice has a finish reason; then only the usage follows
 * (decision G-24).
 */
export class OpenAiChunkReader implements ChatEventReader {
  follows: WhatFollows = 'more';
  private readonly choices = new ChoiceEnds();

  /** Without `parts` the caller speaks the protocol, and gets the chunks as they are. */
  constructor(private readonly parts?: ChunkParts) {}

  get hasBegun(): boolean {
    return this.choices.haveBegun;
  }

  get isWhole(): boolean {
    return this.choices.haveEnded;
  }

  read(chunk: JsonObject): ChatEvent | null {
    const choices = listAt(chunk, 'choices') ?? [];
    if (choices.length > MAX_CHOICES) throw new UnusableAnswer('bad_chunk');
    const usage = usageOf(chunk);
    const says = this.choices.record(choices);
    const isUsage = choices.length === 0;
    // Chunks before the first choice are not forwarded, and their usage is not a report of generated text.
    if (isUsage && (usage === null || !this.choices.haveBegun)) {
      this.follows = 'more';
      return null;
    }
    this.follows = this.followsOf(isUsage, says);
    if (this.parts) return this.parts.eventOf(choices, usage);
    return new NativeChat(chunk, usage, choices, 'delta');
  }

  rest(): ChatEvent | null {
    return this.parts?.rest() ?? null;
  }

  private followsOf(isUsage: boolean, says: boolean): WhatFollows {
    if (!this.choices.haveEnded) return 'more';
    if (isUsage) return 'nothing';
    return says ? 'usage' : 'more';
  }
}
