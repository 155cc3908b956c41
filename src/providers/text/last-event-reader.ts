import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { type ChatEvent, PartsEvent, type TokenUsage } from '../ports/chat.port.js';
import type { ChatEventReader, WhatFollows } from './chat-event-stream.js';

/**
 * Reads the events of a protocol that has a last event. A `[DONE]` ends no answer that is not whole, because it is no event of
 * such a protocol.
 */
export abstract class LastEventReader implements ChatEventReader {
  /** Whether the last event was read. */
  protected isOver = false;

  /** @param isNative whether the caller speaks the same protocol and gets the events themselves */
  constructor(protected readonly isNative: boolean) {}

  get hasBegun(): boolean {
    return this.isWhole;
  }

  get isWhole(): boolean {
    return this.isOver;
  }

  get follows(): WhatFollows {
    return this.isOver ? 'nothing' : 'more';
  }

  abstract read(event: JsonObject): ChatEvent | null;

  /** What is forwarded of an event: itself to a caller of the same protocol, and to others what it says or reports. */
  protected forwarded(
    event: JsonObject,
    parts: ChatPart[],
    usage: TokenUsage | null = null,
  ): ChatEvent | null {
    if (this.isNative) return new PartsEvent(parts, usage, event);
    return parts.length === 0 && usage === null ? null : new PartsEvent(parts, usage);
  }
}
