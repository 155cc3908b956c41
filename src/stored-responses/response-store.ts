import { Inject, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';
import { SecretBoxError } from '../common/secrets/secret-box.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { StoredContent } from './stored-content.js';

/** Most bytes of a stored response with all items of its conversation, encrypted. */
export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** Most bytes of stored items that one request continues or names, each as often as it is named: those of a body. */
export const MAX_NAMED_BYTES = 32 * 1024 * 1024;

/** An item of a stored conversation. */
export interface StoredItem {
  /** UUID. */
  readonly id: string;
  /** As it is on the wire. */
  readonly item: JsonObject;
  /** Size as it is stored. */
  readonly bytes: number;
}

/** A response as it is stored, without its items. */
export interface StoredResponse {
  /** UUID of its execution or task. */
  readonly id: string;
  /** The object as it is on the wire, without `output`. */
  readonly response: JsonObject;
  /** UUIDs of its conversation in order: what went before, its input, its output. */
  readonly itemIds: readonly string[];
  /** How many of them, at the end, are its output. */
  readonly outputItems: number;
}

/** A response to be stored. Items that have a size are stored already. */
export interface NewResponse {
  readonly id: string;
  readonly response: JsonObject;
  readonly items: readonly (StoredItem | NewItem)[];
  readonly outputItems: number;
}

/** What a request continues: the items of an earlier response in their order, and items that it names. */
export interface StoredConversation {
  /** Undefined: there is no such response, or not all of its items can be read. */
  readonly items: readonly StoredItem[] | undefined;
  readonly named: ReadonlyMap<string, StoredItem>;
}

/** An item that may be new. */
export type NewItem = Omit<StoredItem, 'bytes'>;

const ITEMS = `
  SELECT id, sealed_item AS sealed, bytes FROM stored_item
   WHERE account_id = $1 AND id = ANY ($2) AND listed_until > now()`;
/**
 * The list of a response and the size of all in one row, and in the others the items of the list and those that are named
 * beside it, unless they are too large.
 */
const CONVERSATION = `
  WITH r AS (SELECT items FROM stored_response WHERE account_id = $1 AND id = $2 AND expires_at > now()),
       wanted AS MATERIALIZED (SELECT unnest($3::uuid[] || coalesce((SELECT items FROM r), '{}')) AS id),
       size AS MATERIALIZED (
         SELECT coalesce(sum(i.bytes), 0) AS total FROM wanted JOIN stored_item i USING (id)
          WHERE i.account_id = $1 AND i.listed_until > now())
  SELECT NULL::uuid AS id, NULL AS sealed, NULL::integer AS bytes, (SELECT items FROM r) AS items, total FROM size
  UNION ALL
  SELECT id, sealed_item, bytes, NULL, NULL FROM stored_item
   WHERE account_id = $1 AND id IN (SELECT id FROM wanted) AND listed_until > now() AND (SELECT total FROM size) <= $4`;
const RESPONSE = `
  SELECT sealed_response AS sealed, items, output_items FROM stored_response
   WHERE account_id = $1 AND id = $2 AND expires_at > now()`;
const STORE = 'SELECT response_store($1, $2, $3, $4, $5, $6, $7, $8, $9) AS stored';
const FORGET = 'SELECT response_forget($1, $2) AS freed';
const ERASE = 'SELECT response_erase($1) AS forgotten';
const IS_ERASED = `
  SELECT EXISTS (SELECT FROM stored_content c JOIN task t USING (account_id)
                  WHERE account_id = $1 AND t.id = $2 AND c.erased_at >= t.created_at) AS erased`;
/** Size of an item's id in the list of a response. */
const ID_BYTES = 16;

interface ItemRow {
  readonly id: string;
  readonly sealed: string;
  readonly bytes: number;
}

interface ConversationRow {
  readonly id: null;
  readonly items: string[] | null;
  readonly total: string;
}

/** A response with its new items as the database takes it. */
export type StoreRow = Readonly<{
  days: number;
  items: readonly string[];
  outputItems: number;
  sealed: string;
  newIds: readonly string[];
  newSealed: readonly string[];
  maxBytes: number;
}>;

type Limits = Pick<GatewayConfig, 'responsesRetentionDays' | 'responsesMaxBytesPerAccount'>;

/** Stored responses and the items of their conversations, by account (decision G-108). */
@Injectable()
export class ResponseStore {
  private readonly logger = new Logger(ResponseStore.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly content: StoredContent,
    @Inject(GATEWAY_CONFIG) private readonly limits: Limits,
  ) {}

  /** Whether responses are stored at all. */
  get isOn(): boolean {
    return this.limits.responsesRetentionDays > 0 && this.content.canSeal;
  }

  /** Whether a conversation with items of these sizes may be stored. */
  fits(bytes: number): boolean {
    return bytes <= Math.min(MAX_RESPONSE_BYTES, this.limits.responsesMaxBytesPerAccount);
  }

  /** The stored items with these UUIDs. Unknown, expired and unreadable ones, and those of other accounts, are missing. */
  async items(accountId: string, ids: readonly string[]): Promise<Map<string, StoredItem>> {
    if (ids.length === 0) return new Map();
    return this.opened(await this.dataSource.query<ItemRow[]>(ITEMS, [accountId, ids]));
  }

  /**
   * The conversation of an earlier response, if there is one, and items by their UUIDs, in one statement. Throws 413 naming
   * `input` where they have more than {@link MAX_NAMED_BYTES}: a short body could name one large item ten thousand times.
   */
  async conversation(
    accountId: string,
    responseId: string | undefined,
    named: readonly string[],
  ): Promise<StoredConversation> {
    const values = [accountId, responseId ?? null, named, MAX_NAMED_BYTES];
    const rows = await this.dataSource.query<(ItemRow | ConversationRow)[]>(CONVERSATION, values);
    const { items: list, total } = rows.find((row) => row.id === null) ?? {
      items: null,
      total: '0',
    };
    if (Number(total) > MAX_NAMED_BYTES) throw tooLarge(total);
    const found = this.opened(rows.filter((row) => row.id !== null));
    const items = (list ?? []).map((id) => found.get(id)).filter((item) => item !== undefined);
    return { items: items.length === list?.length ? items : undefined, named: found };
  }

  /** The stored response; undefined if it is unknown, expired, unreadable, or of another account. */
  async response(accountId: string, id: string): Promise<StoredResponse | undefined> {
    const [row] = await this.dataSource.query<
      { sealed: string; items: string[]; output_items: number }[]
    >(RESPONSE, [accountId, id]);
    const response = row && this.open('response', row.sealed, id);
    if (!response) return undefined;
    return { id, response, itemIds: row.items, outputItems: row.output_items };
  }

  /**
   * Stores a response. False if it is not stored: it is too large, an item of its conversation was forgotten or all of the account
   * was erased meanwhile, or the database did not take it, which is logged.
   */
  async store(accountId: string, made: NewResponse): Promise<boolean> {
    const row = this.rowOf(made);
    if (!row) return false;
    const { days, items, outputItems, sealed, newIds, newSealed, maxBytes } = row;
    const values = [
      ...[accountId, made.id, days, items, outputItems, sealed, newIds, newSealed],
      maxBytes,
    ];
    try {
      const [row] = await this.dataSource.query<{ stored: boolean }[]>(STORE, values);
      return row?.stored === true;
    } catch (error) {
      // The statement and its values would be in the error of the driver.
      this.logger.warn(`A response was not stored: ${(error as Error).message}`);
      return false;
    }
  }

  /** What `response_store` gets besides the account and the id; undefined if the response is too large. */
  rowOf({ id, response, items, outputItems }: NewResponse): StoreRow | undefined {
    const isNew = (item: StoredItem | NewItem): item is NewItem => !('bytes' in item);
    const fresh = items.filter(isNew).map((own) => ({
      id: own.id,
      sealed: this.content.seal('item', own.item, own.id),
    }));
    const sealed = this.content.seal('response', response, id);
    const bytes =
      items.reduce((sum, item) => sum + ('bytes' in item ? item.bytes : 0) + ID_BYTES, 0) +
      fresh.reduce((sum, item) => sum + item.sealed.length, sealed.length);
    if (!this.fits(bytes)) return undefined;
    return {
      days: this.limits.responsesRetentionDays,
      items: items.map((item) => item.id),
      outputItems,
      sealed,
      newIds: fresh.map((item) => item.id),
      newSealed: fresh.map((item) => item.sealed),
      maxBytes: this.limits.responsesMaxBytesPerAccount,
    };
  }

  /** Forgets a response, and the items that no other one lists. False if there is none. */
  async forget(accountId: string, id: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ freed: string | null }[]>(FORGET, [accountId, id]);
    return row !== undefined && row.freed !== null;
  }

  /** Forgets all that is stored for an account; what is still being made will not be stored. Returns how many responses that were. */
  async erase(accountId: string): Promise<number> {
    const [row] = await this.dataSource.query<{ forgotten: number }[]>(ERASE, [accountId]);
    return row?.forgotten ?? 0;
  }

  /** Whether all of the account was erased since this task began, whose response will not be stored. */
  async isErased({
    accountId,
    id,
  }: Readonly<Record<'accountId' | 'id', string>>): Promise<boolean> {
    const [row] = await this.dataSource.query<{ erased: boolean }[]>(IS_ERASED, [accountId, id]);
    return row?.erased === true;
  }

  private opened(rows: readonly ItemRow[]): Map<string, StoredItem> {
    const found = new Map<string, StoredItem>();
    for (const { id, sealed, bytes } of rows) {
      const item = this.open('item', sealed, id);
      if (item) found.set(id, { id, item, bytes });
    }
    return found;
  }

  private open(kind: 'item' | 'response', sealed: string, id: string): JsonObject | undefined {
    try {
      return this.content.open(kind, sealed, id);
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined;
      throw error;
    }
  }
}

function tooLarge(bytes: string): GatewayError {
  const message = `input continues or names ${bytes} bytes of stored items, more than ${MAX_NAMED_BYTES}.`;
  return new GatewayError('request_too_large', message, { param: 'input' });
}
