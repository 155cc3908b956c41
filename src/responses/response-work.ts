import type { JsonObject } from '../common/json-object.js';
import type { Bill } from '../text/text-face.js';
import type { MadeOutput } from './output/item-draft.js';
import {
  incompleteReasonOf,
  type ResponseOrigin,
  responseObject,
  type ResponseState,
} from './output/response-object.js';
import { toResponseId, uuidOfItem } from '../stored-responses/response-ids.js';
import type { NewItem, ResponseStore, StoredItem } from '../stored-responses/response-store.js';

/** What a response is made of, besides its answer. */
interface ResponseParts {
  readonly head: ResponseOrigin;
  readonly accountId: string;
  /** The conversation before the answer. */
  readonly items: readonly (StoredItem | NewItem)[];
}

/** One response from its request to its end, and how it is stored. */
export class ResponseWork {
  /** Whether the response is to be stored: the caller wants it, the gateway stores, and the conversation is not too large. */
  readonly isToBeStored: boolean;

  constructor(
    private readonly parts: ResponseParts,
    private readonly store: ResponseStore,
    private readonly nowSeconds: () => number,
  ) {
    this.isToBeStored = this.wantsStorage && store.isOn && store.fits(sizeOf(parts.items));
  }

  /** Whether the caller wants the response to be stored. */
  get wantsStorage(): boolean {
    return this.parts.head.body.store;
  }

  /** The id and the model of the response, as the caller gets them. */
  get names(): { readonly id: string; readonly model: string } {
    const { executionId, model } = this.parts.head;
    return { id: toResponseId(executionId), model };
  }

  /** Whether the answer is incomplete. */
  isCut(output: MadeOutput): boolean {
    return incompleteReasonOf(output.finishReason) !== undefined;
  }

  /** The response before its end. */
  inProgress(): JsonObject {
    return this.object({ status: 'in_progress', output: [], isStored: this.isToBeStored });
  }

  /** The response that failed. It is not stored. */
  failed({ finished }: MadeOutput, error: NonNullable<ResponseState['error']>): JsonObject {
    return this.object({ status: 'failed', output: finished, isStored: false, error });
  }

  /** The whole response; its items are at their end. */
  finished({ finished, finishReason }: MadeOutput, bill: Bill): JsonObject {
    const incompleteReason = incompleteReasonOf(finishReason);
    return this.object({
      status: incompleteReason === undefined ? 'completed' : 'incomplete',
      output: finished,
      isStored: this.isToBeStored,
      completedAt: this.nowSeconds(),
      ...(incompleteReason !== undefined && { incompleteReason }),
      bill,
    });
  }

  /** Stores the whole response, if it is to be stored. Returns it as it is told: one that was not stored says so. */
  async stored({ stored }: MadeOutput, response: JsonObject): Promise<JsonObject> {
    if (!this.isToBeStored) return response;
    const { output, ...rest } = response;
    const { head, accountId, items } = this.parts;
    const made = stored.map((item) => ({ id: uuidOfItem(item), item }));
    const isStored = await this.store.store(accountId, {
      id: head.executionId,
      response: rest,
      items: [...items, ...made],
      outputItems: made.length,
    });
    return isStored ? response : { ...response, store: false };
  }

  private object(state: ResponseState): JsonObject {
    return responseObject(this.parts.head, state);
  }
}

function sizeOf(items: readonly (StoredItem | NewItem)[]): number {
  let bytes = 0;
  for (const item of items)
    bytes += 'bytes' in item ? item.bytes : JSON.stringify(item.item).length;
  return bytes;
}
