import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChatEvent } from '../../providers/ports/chat.port.js';
import type { FinishReason } from '../../providers/ports/finish-reason.js';
import { UnusableAnswer } from '../../providers/ports/unusable-answer.js';
import { sealedValueOf } from '../../providers/text/encrypted-items.js';
import { toItemId } from '../../stored-responses/response-ids.js';
import { shownObject } from '../../text/vendor-values.js';
import type { Emit, ItemTerms, MadeOutput } from './item-draft.js';

/** Most characters of the items of one answer, which stay in memory until its end. */
const MAX_CHARS = 16 * 1024 * 1024;
/** The names of events, which stand in a line of the stream, and the types of items. */
const EVENT = /^response\.[a-z_.]{1,80}$/;
const ITEM_TYPE = /^[a-z_]{1,64}$/;
const ENDS: readonly unknown[] = ['response.completed', 'response.incomplete'];
const ID_FIELD = /(^|_)id$/;
/** What every item has, and reasoning moreover; vendors leave it out. */
const DEFAULTS = { status: 'completed' };
const REASONING = { ...DEFAULTS, summary: [], content: [], encrypted_content: null };

const QUIET: Emit = () => undefined;

/** An item of the vendor under the id of the gateway. */
interface PassedItem {
  readonly id: string;
  shown: JsonObject;
  stored: JsonObject;
  isFinished: boolean;
}

/**
 * The output of a vendor of this protocol: its own items and events, known or not, with the ids, the model name and the seals
 * of the gateway. Where the vendor numbers its items in another way than the protocol does, the answer is unusable.
 */
export class NativeItems implements MadeOutput {
  private readonly items: PassedItem[] = [];
  /** Our ids by those of the vendor. */
  private readonly ids = new Map<unknown, string>();
  private chars = 0;
  private reason: FinishReason | undefined;
  private hasEnded = false;

  constructor(
    private readonly terms: ItemTerms,
    private readonly names: { readonly id: string; readonly model: string },
    private readonly emit: Emit = QUIET,
  ) {}

  get finished(): JsonObject[] {
    return this.finishedItems.map(({ shown }) => shown);
  }

  get stored(): JsonObject[] {
    return this.finishedItems.map(({ stored }) => stored);
  }

  get finishReason(): FinishReason | undefined {
    return this.reason;
  }

  /** Whether the vendor has told its whole response. */
  get isWhole(): boolean {
    return this.hasEnded;
  }

  /** Takes an event of a stream, and tells it. Throws {@link UnusableAnswer}. */
  take({ native, parts }: ChatEvent): void {
    const { type, sequence_number, ...fields } = native ?? {};
    for (const part of parts) if (part.type === 'finish') this.reason = part.reason;
    if (ENDS.includes(type)) this.takeOutput(fields.response);
    else if (type === 'response.output_item.added') this.add(fields);
    else if (type === 'response.output_item.done') this.finish(fields);
    else if (typeof type === 'string' && EVENT.test(type)) {
      this.emit(type, this.own(fields));
    }
  }

  /** Takes a whole response. Throws {@link UnusableAnswer}. */
  takeWhole({ native, parts }: ChatEvent): void {
    for (const part of parts) if (part.type === 'finish') this.reason = part.reason;
    this.takeOutput(native);
  }

  private get finishedItems(): PassedItem[] {
    return this.items.filter(({ isFinished }) => isFinished);
  }

  /** What the whole response has and the events had not. */
  private takeOutput(response: unknown): void {
    const output = isJsonObject(response) ? response.output : undefined;
    if (!Array.isArray(output)) throw new UnusableAnswer('bad_chunk');
    this.hasEnded = true;
    for (const [output_index, item] of (output as readonly unknown[]).entries()) {
      if (this.items[output_index]?.isFinished !== true) this.finish({ output_index, item });
    }
    for (const [output_index, { shown, isFinished }] of this.items.entries()) {
      if (!isFinished) this.finish({ output_index, item: { ...shown, ...DEFAULTS } });
    }
  }

  /** The beginning of an item stays in memory too, and may be as large as its end. */
  private add(fields: JsonObject): void {
    if (isJsonObject(fields.item)) this.count(fields.item);
    this.begin(fields);
  }

  private begin({ item, ...fields }: JsonObject): void {
    const { output_index: index } = fields;
    const type = isJsonObject(item) ? item.type : undefined;
    const isNext = index === this.items.length && typeof type === 'string';
    if (!isJsonObject(item) || !isNext || !ITEM_TYPE.test(type)) {
      throw new UnusableAnswer('bad_chunk');
    }
    const id = toItemId(type, this.terms.newId());
    if (typeof item.id === 'string') this.ids.set(item.id, id);
    const begun = { ...unsealed(this.ownItem(item, id)), status: 'in_progress' };
    this.items.push({ id, shown: begun, stored: begun, isFinished: false });
    this.emit('response.output_item.added', { ...fields, item: begun });
  }

  private finish(fields: JsonObject): void {
    const { output_index: index, item } = fields;
    if (!isJsonObject(item)) throw new UnusableAnswer('bad_chunk');
    if (index === this.items.length) this.begin(fields);
    const passed = typeof index === 'number' ? this.items[index] : undefined;
    if (!passed || passed.isFinished || item.type !== passed.shown.type) {
      throw new UnusableAnswer('bad_chunk');
    }
    this.count(item);
    passed.isFinished = true;
    passed.stored = this.ownItem(item, passed.id);
    passed.shown = this.terms.showsSealed ? passed.stored : unsealed(passed.stored);
    this.emit('response.output_item.done', { output_index: index, item: passed.shown });
  }

  /** The item with our id and our seal. */
  private ownItem(item: JsonObject, id: string): JsonObject {
    const value = sealedValueOf(item);
    const seal = value && this.terms.seal({ type: 'reasoning-sealed', family: 'responses', value });
    return {
      ...(item.type === 'reasoning' ? REASONING : DEFAULTS),
      ...this.own(item),
      id,
      ...(value && { encrypted_content: seal }),
    };
  }

  private count(item: JsonObject): void {
    this.chars += JSON.stringify(item).length;
    if (this.chars > MAX_CHARS) throw new UnusableAnswer('response_too_large');
  }

  /** An object of the vendor with our ids and our name of the model. */
  private own(object: JsonObject): JsonObject {
    return shownObject(object, (name, value) => {
      if (name === 'model') return this.names.model;
      if (name === 'response_id') return this.names.id;
      return ID_FIELD.test(name) ? this.ids.get(value) : undefined;
    });
  }
}

function unsealed(item: JsonObject): JsonObject {
  return 'encrypted_content' in item ? { ...item, encrypted_content: null } : item;
}
