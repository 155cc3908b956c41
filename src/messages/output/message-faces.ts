import { bodyInApiFamily } from '../../common/errors/error-body.js';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { SseWriter } from '../../platform/http-server/responses/sse-response.js';
import type { ChatEvent, TokenUsage } from '../../providers/ports/chat.port.js';
import { UnusableAnswer } from '../../providers/ports/unusable-answer.js';
import type { AnswerFace, Bill, StreamFace } from '../../text/text-face.js';
import { shownObject } from '../../text/vendor-values.js';
import { MessageBlocks } from './message-blocks.js';
import { viewMessageUsage, viewStreamUsage } from './message-usage.js';

/** What names an answer. */
export interface MessageHead {
  /** `msg_` and the digits of the execution. */
  readonly id: string;
  /** The model as the caller named it. */
  readonly model: string;
  /** The id of the execution, for errors. */
  readonly requestId: string;
}

/** What a caller gets of the vendor's own message and its ending. Others may add their name and their price. */
const KNOWN_FIELDS: readonly string[] = [
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'container',
  'context_management',
];
/** Of the vendor's own events between the start and the end. */
const BLOCK_EVENT = /^content_block_[a-z]{1,20}$/;
/** Others, which the vendor may add. A caller gets so many of them, and so many characters in all. */
const OTHER_EVENT = /^[a-z][a-z_.]{0,79}$/;
const MAX_OTHER_EVENTS = 10_000;
const MAX_OTHER_CHARS = 16 * 1024 * 1024;
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/** A message as one JSON object (API: POST /v1/messages). The vendor's own one passes with our names and counts. */
export class MessageAnswer implements AnswerFace {
  constructor(private readonly head: MessageHead) {}

  answer({ native, parts }: ChatEvent, { usage }: Bill): JsonObject {
    const own = { ...headOf(this.head), usage: viewMessageUsage(usage) };
    if (native !== null) return { ...knownOf(native), ...own };
    const blocks = new MessageBlocks();
    blocks.add(parts);
    blocks.end();
    if (blocks.isMalformed) throw new UnusableAnswer('bad_tool_arguments');
    const none = { stop_details: null, container: null };
    return { ...own, content: blocks.finished, ...blocks.ending, ...none };
  }
}

/**
 * A message as server-sent events (API: POST /v1/messages): its start, its blocks one after the other, its ending with usage
 * and charge. The vendor's own events pass with our names and counts; those that end it wait for the charge.
 */
export class MessageStream implements StreamFace {
  private readonly blocks: MessageBlocks;
  private hasBegun = false;
  /** The vendor's own ending, if there is one. */
  private ending: JsonObject | undefined;
  private otherEvents = 0;
  private otherChars = 0;
  /** Set while the client has to be waited for. */
  private waiting: Promise<void> | undefined;

  constructor(
    private readonly events: Pick<SseWriter, 'send' | 'end'>,
    private readonly head: MessageHead,
    /** The tokens of the prompt, counted here: the vendor's are known at the end only. */
    private readonly promptTokens: number,
    /** The words in which this protocol tells an error. */
    private readonly inOwnWords: (error: GatewayError) => Promise<GatewayError> = (error) =>
      Promise.resolve(error),
  ) {
    this.blocks = new MessageBlocks((type, fields) => {
      this.tell(type, fields);
    });
  }

  /** An event for a silence. */
  static heartbeat(): string {
    return PING;
  }

  forward({ native, parts, usage }: ChatEvent): Promise<void> | undefined {
    this.waiting = undefined;
    if (native !== null) this.forwardNative(native, usage);
    else {
      this.begin();
      this.blocks.add(parts);
    }
    return this.waiting;
  }

  async end(bill: Bill): Promise<void> {
    this.begin();
    this.blocks.end();
    const usage = viewStreamUsage(bill);
    const delta = this.ending ?? { ...this.blocks.ending, stop_details: null, container: null };
    this.tell('message_delta', { delta, usage });
    this.tell('message_stop', {});
    await this.waiting;
    await this.events.end();
  }

  async fail(error: GatewayError): Promise<void> {
    const body = bodyInApiFamily(await this.inOwnWords(error), 'messages', this.head.requestId);
    await this.events.send(JSON.stringify(body), 'error');
    await this.events.end();
  }

  private forwardNative(event: JsonObject, usage: TokenUsage | null): void {
    const { type, delta, ...fields } = event;
    switch (type) {
      case 'message_start':
        this.begin(isJsonObject(event.message) ? event.message : {}, usage);
        break;
      case 'message_delta':
        if (isJsonObject(delta)) this.ending = { ...this.ending, ...knownOf(delta) };
        break;
      case 'message_stop':
        break;
      default:
        if (typeof type !== 'string') return;
        if (!BLOCK_EVENT.test(type)) this.tellOther(type, event);
        else this.tell(type, delta === undefined ? fields : { ...fields, delta });
    }
  }

  private tellOther(type: string, event: JsonObject): void {
    if (!OTHER_EVENT.test(type) || this.otherEvents >= MAX_OTHER_EVENTS) return;
    const { model } = this.head;
    const shown = shownObject(event, (name) => (name === 'model' ? model : undefined));
    this.otherEvents += 1;
    this.otherChars += JSON.stringify(shown).length;
    if (this.otherChars <= MAX_OTHER_CHARS) this.tell(type, shown);
  }

  private begin(vendors: JsonObject = {}, told: TokenUsage | null = null): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const { promptTokens } = this;
    const none = { completionTokens: 0, cachedTokens: null, reasoningTokens: null };
    const usage = viewMessageUsage(told ?? { promptTokens, ...none });
    const empty = { content: [], stop_reason: null, stop_sequence: null };
    const message = { ...empty, ...knownOf(vendors), ...headOf(this.head), usage };
    this.tell('message_start', { message });
  }

  private tell(type: string, fields: JsonObject): void {
    const sent = this.events.send(JSON.stringify({ type, ...fields }), type);
    this.waiting = sent ?? this.waiting;
  }
}

function knownOf(message: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(message).filter(([name]) => KNOWN_FIELDS.includes(name)),
  );
}

function headOf({ id, model }: MessageHead): JsonObject {
  return { id, type: 'message', role: 'assistant', model };
}
