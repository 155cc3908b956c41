import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { type ChatEvent, PartsEvent, type TokenUsage } from '../ports/chat.port.js';
import { isReason } from '../ports/finish-reason.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import type { WhatFollows } from '../text/chat-event-stream.js';
import { LastEventReader } from '../text/last-event-reader.js';
import { BlockParts } from './block-parts.js';
import { finishOf } from './message-answer.js';
import { laterUsage, promptUsageOf, reportOf, startUsageOf } from './message-usage.js';

/** Has the reason of the end, whose finish is told with the last event. */
class EndingEvent extends PartsEvent {
  override get hasFinish(): boolean {
    return true;
  }
}

/**
 * Reads the events of one streamed message. It is complete once it has its stop reason, or at `message_stop` (decision G-24):
 * after the reason only the usage and the last event follow.
 */
export class MessageEventReader extends LastEventReader {
  private readonly blocks: BlockParts;
  private usage: JsonObject = {};
  /** The prompt as the first event counts it, until it is told. */
  private told: TokenUsage | null = null;
  /** Why the message ended, which is told with its last event: more may come before. */
  private ending: JsonObject = {};
  private hasStarted = false;
  /** Whether the event that was read last has the stop reason. From it on the last event is awaited. */
  private hasJustEnded = false;

  /** @param customTools see {@link BlockParts} */
  constructor(isNative: boolean, customTools: ReadonlySet<string>) {
    super(isNative);
    this.blocks = new BlockParts(customTools);
  }

  override get isWhole(): boolean {
    return this.isOver || isReason(this.ending.stop_reason);
  }

  override get follows(): WhatFollows {
    return this.hasJustEnded ? 'usage' : super.follows;
  }

  read(event: JsonObject): ChatEvent | null {
    const { type } = event;
    this.hasJustEnded = false;
    if (type === 'ping') return null;
    if (type === 'message_start') return this.start(event);
    if (!this.hasStarted || typeof type !== 'string') throw new UnusableAnswer('bad_chunk');
    switch (type) {
      case 'content_block_start':
        return this.forwarded(event, this.begunParts(event), this.takeTold());
      case 'content_block_delta':
        return this.forwarded(event, this.deltaParts(event));
      case 'content_block_stop':
        return this.forwarded(event, this.blocks.end(event.index));
      case 'message_delta':
        return this.takeEnding(event);
      case 'message_stop':
        return this.finish(event);
      default:
        return this.forwarded(event, []);
    }
  }

  /** An end for the reason `error`, which some vendors of the protocol have (decision G-24). */
  errorIn(event: JsonObject): unknown {
    const { delta } = event;
    return isJsonObject(delta) && delta.stop_reason === 'error' ? event : undefined;
  }

  /** The end of a message whose last event did not come. */
  rest(): ChatEvent | null {
    return this.isOver ? null : this.finish({ type: 'message_stop' });
  }

  private start(event: JsonObject): ChatEvent | null {
    const { message } = event;
    if (this.hasStarted || !isJsonObject(message)) throw new UnusableAnswer('bad_chunk');
    this.hasStarted = true;
    if (isJsonObject(message.usage)) {
      this.usage = startUsageOf(message.usage);
      this.told = promptUsageOf(message.usage);
    }
    // A caller of another protocol learns of it with the first block: an error before can still lead to another route.
    return this.forwarded(event, [], this.isNative ? this.takeTold() : null);
  }

  private begunParts({ index, content_block: block }: JsonObject): ChatPart[] {
    return this.blocks.begin(index, isJsonObject(block) ? block : {});
  }

  private deltaParts({ index, delta }: JsonObject): ChatPart[] {
    return this.blocks.add(index, isJsonObject(delta) ? delta : {});
  }

  private takeEnding(event: JsonObject): ChatEvent | null {
    const { delta, usage } = event;
    if (isJsonObject(usage)) this.usage = laterUsage(this.usage, usage);
    const report = isJsonObject(usage) ? reportOf(this.usage) : null;
    if (!isJsonObject(delta) || isReason(this.ending.stop_reason)) {
      return this.forwarded(event, [], report);
    }
    this.ending = delta;
    this.hasJustEnded = isReason(delta.stop_reason);
    if (!this.hasJustEnded) return this.forwarded(event, [], report);
    // Text of a block that its vendor has left open would come after the report, which would then not cover it. Some vendors
    // report in a later event, which a client that leaves now must not spare itself.
    return new EndingEvent(this.blocks.endAll(), report, this.isNative ? event : null);
  }

  private finish(event: JsonObject): ChatEvent | null {
    this.isOver = true;
    const { blocks, ending } = this;
    return this.forwarded(event, [...blocks.endAll(), finishOf(ending, blocks.hasCalls)]);
  }

  private takeTold(): TokenUsage | null {
    const { told } = this;
    this.told = null;
    return told;
  }
}
