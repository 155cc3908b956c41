import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import type { FinishReason } from '../../providers/ports/finish-reason.js';

/** Tells an event of a stream: its type, and its fields but for the sequence number. */
export type Emit = (type: string, fields: JsonObject) => void;

/** The items of an answer as far as they are made. */
export interface MadeOutput {
  /** Those that are finished, in their order, as the caller gets them. */
  readonly finished: JsonObject[];
  /** The same as they are stored. */
  readonly stored: JsonObject[];
  /** Why the answer ended; undefined before its end. */
  readonly finishReason: FinishReason | undefined;
}

/** What the items of an answer need from their surroundings. */
export interface ItemTerms {
  /** A new UUID. */
  readonly newId: () => string;
  /** The sealed text of a vendor's part; null where there is no key. */
  readonly seal: (part: Extract<ChatPart, { type: 'reasoning-sealed' }>) => string | null;
  /** Whether the caller gets the sealed texts and the log probabilities. */
  readonly showsSealed: boolean;
  readonly showsLogprobs: boolean;
}

/** An item that is being made. Only the first that is not finished is open: events of the others wait. */
export interface Draft {
  /** As the caller gets it. */
  readonly item: JsonObject;
  /** As it is stored, with what the vendor wants back. */
  readonly stored: JsonObject;
  /** Whether nothing more can belong to it. */
  isComplete: boolean;
  /** Whether a part belongs to it. */
  takes(part: ChatPart): boolean;
  /** Adds a part, and tells it if the item is open. */
  add(part: ChatPart, emit: Emit): void;
  /** Tells the item with what it has so far. */
  open(outputIndex: number, emit: Emit): void;
  /** Ends the item. */
  close(status: 'completed' | 'incomplete', emit: Emit): void;
}
