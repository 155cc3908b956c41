import { Injectable } from '@nestjs/common';
import { GatewayError, invalidField } from '../../common/errors/gateway-error.js';
import type { JsonObject } from '../../common/json-object.js';
import type { IgnoredFields } from '../../text/ignored-fields.js';
import type { ResponsesBody } from '../dto/responses.body.js';
import { fromItemId, fromResponseId, toItemId } from '../../stored-responses/response-ids.js';
import {
  type NewItem,
  ResponseStore,
  type StoredItem,
} from '../../stored-responses/response-store.js';
import type { PlacedItem } from './item-conversation.js';
import { ItemIds } from './item-ids.js';
import { knownItem } from './known-items.js';

/** The conversation that a request continues, with its own input. */
export interface ResponseInput {
  /** Each with its id and its place; the items of earlier turns come first. */
  readonly placed: readonly PlacedItem[];
  /** The same as they are stored. */
  readonly items: readonly (StoredItem | NewItem)[];
}

/**
 * Resolves what a request refers to: `previous_response_id` and the items of type `item_reference` (decision G-108). What
 * cannot be resolved is refused, because an answer without the history would look like one with it.
 */
@Injectable()
export class ResponseInputs {
  constructor(
    private readonly store: ResponseStore,
    private readonly ids: ItemIds,
  ) {}

  /**
   * The whole conversation. Throws `previous_response_not_found` naming the field, and `invalid_request` for the result of a
   * call that is not before it.
   */
  async of(
    accountId: string,
    { input, previous_response_id: previous }: ResponsesBody,
    ignored: IgnoredFields,
  ): Promise<ResponseInput> {
    const message = { role: 'user', content: input };
    const sent = (Array.isArray(input) ? input : [message]) as readonly JsonObject[];
    const known = sent.map((item, index) => knownItem(item, `input.${index}`, ignored));
    const references = known.filter(isReference).map(({ id }) => fromItemId(id as string));
    const named = references.filter((id) => id !== undefined);
    const previousId = previous === undefined ? undefined : fromResponseId(previous);
    if (previous !== undefined && previousId === undefined) throw unknownPrevious();
    const isStateless = previousId === undefined && references.length === 0;
    const stored = isStateless
      ? { items: undefined, named: new Map<string, StoredItem>() }
      : await this.store.conversation(accountId, previousId, named);
    if (previousId !== undefined && stored.items === undefined) throw unknownPrevious();
    const earlier = (stored.items ?? []).map((item) => ({
      ...item,
      param: 'previous_response_id',
    }));
    const idOf = this.ids.ofInput(
      accountId,
      earlier.map(({ id }) => id),
    );
    const own = known.map((item, index): PlacedStoredItem => {
      const param = `input.${index}`;
      if (!isReference(item)) return { ...newItem(item, idOf), param };
      const found = stored.named.get(fromItemId(item.id as string) ?? '');
      if (!found || found.item.id !== item.id) throw unknownItem(param);
      return { ...found, param };
    });
    const items: PlacedStoredItem[] = [...earlier, ...own];
    checkOrder(items);
    return { placed: items, items };
  }
}

type PlacedStoredItem = (StoredItem | NewItem) & PlacedItem;

const CALLS: readonly unknown[] = ['function_call', 'custom_tool_call'];
const RESULTS: readonly unknown[] = ['function_call_output', 'custom_tool_call_output'];

const isReference = ({ type }: JsonObject): boolean => type === 'item_reference';

function newItem(item: JsonObject, idOf: (item: JsonObject) => string): NewItem {
  const id = idOf(item);
  return { id, item: { id: toItemId(item.type as string, id), ...item } };
}

/** Each result of a call follows its call. Other items of a vendor of this protocol may have such an id, too. */
function checkOrder(items: readonly PlacedItem[]): void {
  const called = new Set<unknown>();
  for (const { item, param } of items) {
    const { type, call_id: id } = item;
    if (CALLS.includes(type)) called.add(id);
    else if (RESULTS.includes(type) && !called.has(id)) {
      throw invalidField(`${param}.call_id`, 'names no call before it');
    }
  }
}

function unknownPrevious(): GatewayError {
  const message =
    'There is no such response, or it has expired: send the whole conversation as input.';
  return new GatewayError('previous_response_not_found', message, {
    param: 'previous_response_id',
  });
}

function unknownItem(param: string): GatewayError {
  const message = `${param}.id names no stored item, or one that has expired: send the item itself.`;
  return new GatewayError('previous_response_not_found', message, { param: `${param}.id` });
}
