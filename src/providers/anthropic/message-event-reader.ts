import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { type ChatEvent, PartsEvent, type TokenUsage } from '../ports/chat.port.js';
import { isReason } from '../ports/finish-reason.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import { LastEventReader } from '../text/last-event-reader.js';
import { BlockParts } from './block-parts.js';
import { finishOf } from './message-answer.js';
import { laterUsage, messageUsageOf, promptUsageOf } from './message-usage.js';

/** Has the reason of the end, whose finish is told with the last event. */
class EndingEvent extends PartsEvent {
  override get hasFinish(): boolean {
    return true;
  }
}

/** Reads the events of one streamed message. It is complete at `message_stop` alone. */
export class MessageEventReader extends LastEventReader {
  private readonly blocks: BlockParts;
  private usage: JsonObject = {};
  /** The prompt as the first event counts it, until it is told. */
  private told: TokenUsage | null = null;
  /** Why the message ended, which is told with its last event: more may come before. */
  private ending: JsonObject = {};
  private hasStarted = false;

  /** @param customTools see {@link BlockParts} */
  constructor(isNative: boolean, customTools: ReadonlySet<string>) {
    super(isNative);
    this.blocks = new BlockParts(customTools);
  }

  read(event: JsonObject): ChatEvent | null {
    const { type } = event;
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

  private start(event: JsonObject): ChatEvent | null {
    const { message } = event;
    if (this.hasStarted || !isJsonObject(message)) throw new UnusableAnswer('bad_chunk');
    this.hasStarted = true;
    if (isJsonObject(message.usage)) {
      this.usage = message.usage;
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
    const report = isJsonObject(usage) ? messageUsageOf(this.usage) : null;
    if (!isJsonObject(delta) || isReason(this.ending.stop_reason)) {
      return this.forwarded(event, [], report);
    }
    this.ending = delta;
    if (!isReason(delta.stop_reason)) return this.forwarded(event, [], report);
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
