import type { JsonObject } from '../../common/json-object.js';
import type { ChatEvent, TokenUsage } from '../ports/chat.port.js';
import { isReason } from '../ports/finish-reason.js';
import { textsOf } from '../text/message-texts.js';

const NO_PARTS = [] as const;

/**
 * A completion or a chunk for a caller who speaks the same protocol. It is not taken to parts; what the core asks is read
 * when it asks.
 */
export class NativeChat implements ChatEvent {
  readonly parts = NO_PARTS;

  /** `choices` are those of `native`, and `field` is where each has what the model says. */
  constructor(
    readonly native: JsonObject,
    readonly usage: TokenUsage | null,
    private readonly choices: readonly JsonObject[],
    private readonly field: 'message' | 'delta',
  ) {}

  get texts(): readonly string[] {
    const { choices, field } = this;
    // Nearly every chunk has one.
    if (choices.length === 1) return textsOf(choices[0]?.[field]);
    return choices.flatMap((choice) => textsOf(choice[field]));
  }

  get hasFinish(): boolean {
    return this.choices.some(({ finish_reason: reason }) => isReason(reason));
  }
}
