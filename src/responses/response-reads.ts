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
    const { response, itemIds, outputItems } = await this.find(accountId, id);
    const output = outputItems === 0 ? [] : itemIds.slice(-outputItems);
    return { ...response, output: await this.items(accountId, output) };
  }

  /** The conversation before the answer: what the model was given, those of earlier turns included. */
  async inputItems(
    accountId: string,
    id: string,
    { limit, order, after }: InputItemsQuery,
  ): Promise<ItemPage> {
    const { itemIds, outputItems } = await this.find(accountId, id);
    const oldest = itemIds.slice(0, itemIds.length - outputItems);
    const ids = order === 'asc' ? oldest : oldest.toReversed();
    const last = after === undefined ? undefined : fromItemId(after);
    const position = last === undefined ? -1 : ids.indexOf(last);
    if (after !== undefined && position < 0) throw unknownAfter();
    const page = ids.slice(position + 1, position + 1 + limit);
    const data = await this.items(accountId, page);
    return {
      object: 'list',
      data,
      first_id: data.at(0)?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: position + 1 + limit < ids.length,
    };
  }

  /** Forgets a response, and the items that no other one lists. */
  async forget(accountId: string, id: string): Promise<void> {
    const uuid = fromResponseId(id);
    const isForgotten = uuid !== undefined && (await this.store.forget(accountId, uuid));
    if (!isForgotten) throw unknownResponse();
  }

  /** Refuses to cancel a response: only one that is made in the background can be cancelled. */
  async refuseToCancel(accountId: string, id: string): Promise<never> {
    await this.find(accountId, id);
    const message = 'Only a response with background: true can be cancelled.';
    throw new GatewayError('invalid_request', message, { param: 'id' });
  }

  private async find(accountId: string, id: string): Promise<StoredResponse> {
    const uuid = fromResponseId(id);
    const found = uuid === undefined ? undefined : await this.store.response(accountId, uuid);
    if (!found) throw unknownResponse();
    return found;
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

/** A stored item as callers see it. */
function shown({ [VENDOR_PART]: own, ...item }: JsonObject): JsonObject {
  return item.type === 'reasoning' ? { ...item, encrypted_content: null } : item;
}

function unknownResponse(): GatewayError {
  return new GatewayError('not_found', 'There is no such response, or it has expired.', {
    param: 'id',
  });
}

function unknownAfter(): GatewayError {
  return new GatewayError('invalid_request', 'after is not the id of one of these items.', {
    param: 'after',
  });
}
