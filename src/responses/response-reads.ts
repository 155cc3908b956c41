import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';
import { fromItemId, fromResponseId } from '../stored-responses/response-ids.js';
import { ResponseStore, type StoredResponse } from '../stored-responses/response-store.js';
import type { InputItemsQuery } from './dto/response.queries.js';
import { VENDOR_PART } from './input/item-conversation.js';

/** A page of items. */
export interface ItemPage {
  readonly object: 'list';
  readonly data: readonly JsonObject[];
  readonly first_id: unknown;
  readonly last_id: unknown;
  readonly has_more: boolean;
}

/** Reads and deletes stored responses (API: Stored responses). An unknown, expired or foreign id is 404 `not_found`. */
@Injectable()
export class ResponseReads {
  constructor(private readonly store: ResponseStore) {}

  /** The response as it was answered. */
  async response(accountId: string, id: string): Promise<JsonObject> {
    return this.whole(accountId, await this.find(accountId, id));
  }

  /** The same, of a response that was found. */
  async whole(
    accountId: string,
    { response, itemIds, outputItems }: StoredResponse,
  ): Promise<JsonObject> {
    const output = outputItems === 0 ? [] : itemIds.slice(-outputItems);
    return { ...response, output: await this.items(accountId, output) };
  }

  /** The conversation before the answer: what the model was given, those of earlier turns included. */
  async inputItems(accountId: string, id: string, query: InputItemsQuery): Promise<ItemPage> {
    const { itemIds, outputItems } = await this.find(accountId, id);
    const { ids, hasMore } = placesOf(itemIds.slice(0, itemIds.length - outputItems), query);
    return pageOfItems(await this.items(accountId, ids), hasMore);
  }

  /** Forgets a response, and the items that no other one lists. */
  async forget(accountId: string, id: string): Promise<void> {
    const uuid = fromResponseId(id);
    const isForgotten = uuid !== undefined && (await this.store.forget(accountId, uuid));
    if (!isForgotten) throw unknownResponse();
  }

  /** A stored response without its output; undefined if there is none. */
  async found(accountId: string, id: string): Promise<StoredResponse | undefined> {
    const uuid = fromResponseId(id);
    return uuid === undefined ? undefined : this.store.response(accountId, uuid);
  }

  private async find(accountId: string, id: string): Promise<StoredResponse> {
    return (await this.found(accountId, id)) ?? Promise.reject(unknownResponse());
  }

  private async items(accountId: string, ids: readonly string[]): Promise<JsonObject[]> {
    const found = await this.store.items(accountId, ids);
    return ids.map((id) => {
      const item = found.get(id)?.item;
      // It was deleted meanwhile, or its key is lost: a part would look like the whole.
      if (!item) throw unknownResponse();
      return shown(item);
    });
  }
}

/** Which of these items, oldest first, are on the page. Throws 400 for an `after` that is none of them. */
export function placesOf(
  oldest: readonly string[],
  { limit, order, after }: InputItemsQuery,
): { readonly ids: readonly string[]; readonly hasMore: boolean } {
  const ids = order === 'asc' ? oldest : oldest.toReversed();
  const last = after === undefined ? undefined : fromItemId(after);
  const position = last === undefined ? -1 : ids.indexOf(last);
  if (after !== undefined && position < 0) throw unknownAfter();
  const end = position + 1 + limit;
  return { ids: ids.slice(position + 1, end), hasMore: end < ids.length };
}

/** The page as it is answered. */
export function pageOfItems(data: readonly JsonObject[], hasMore: boolean): ItemPage {
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** A stored item as callers see it. */
export function shown({ [VENDOR_PART]: own, ...item }: JsonObject): JsonObject {
  return 'encrypted_content' in item ? { ...item, encrypted_content: null } : item;
}

/** 404 `not_found`. */
export function unknownResponse(): GatewayError {
  return new GatewayError('not_found', 'There is no such response, or it has expired.', {
    param: 'id',
  });
}

function unknownAfter(): GatewayError {
  return new GatewayError('invalid_request', 'after is not the id of one of these items.', {
    param: 'after',
  });
}
