import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { filterId } from '../common/ids/id-params.js';
import type { FindQuery } from './dto/find.query.js';

/** What can be found, by the names of objects of the API. */
export const FOUND_KINDS = [
  'account',
  'api_key',
  'execution',
  'task',
  'webhook_delivery',
  'webhook_endpoint',
  'ledger_entry',
  'price_book',
] as const;
export type FoundKind = (typeof FOUND_KINDS)[number];

/** What has the id. */
export interface FoundRecord {
  readonly kind: FoundKind;
  /** A UUID; of a price book its name. */
  readonly id: string;
  /** Null for a price book. */
  readonly accountId: string | null;
  /** Of a ledger entry: its place in the ledger of its account. */
  readonly position: string | null;
}

/** Most records of one name. */
const MAX_FOUND = 20;
/** So many accounts, the newest, are asked for a name that is unique only within an account. */
const MAX_ACCOUNTS = 100_000;
/** So many of an account's entries, the newest that are no charges, are read for an id that no index has. */
const MAX_ENTRIES = 10_000;

const HEX_32 = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i;

/** Which kinds an id may name, by how it begins. The id of a response is that of a call or of a task. */
const KINDS_OF_PREFIX: ReadonlyMap<string, readonly FoundKind[]> = new Map(
  Object.entries({
    acct: ['account'],
    key: ['api_key'],
    exec: ['execution'],
    chatcmpl: ['execution'],
    msg: ['execution'],
    resp: ['execution', 'task'],
    task: ['task'],
    whd: ['webhook_delivery'],
    whe: ['webhook_endpoint'],
    entry: ['ledger_entry'],
  } as const),
);
const PREFIXED = /^([a-z]+)[_-](.*)$/;

// Each part reads one index by the id. A charge has the id of its call or task; other entries are found by their account alone.
const BY_ID = `
  SELECT kind, id, account_id AS "accountId", position FROM (
    SELECT 'account' AS kind, id, id AS account_id, NULL::bigint AS position FROM account WHERE id = $1
    UNION ALL SELECT 'api_key', id, account_id, NULL FROM api_key WHERE id = $1
    UNION ALL SELECT 'execution', id, account_id, NULL FROM execution WHERE id = $1
    UNION ALL SELECT 'task', id, account_id, NULL FROM task WHERE id = $1
    UNION ALL SELECT 'webhook_delivery', id, account_id, NULL FROM webhook_delivery WHERE id = $1
    UNION ALL SELECT 'webhook_endpoint', id, account_id, NULL FROM webhook_endpoint WHERE id = $1
    UNION ALL
    SELECT 'ledger_entry', l.id, l.account_id, l.position
      FROM (SELECT account_id FROM execution WHERE id = $1 UNION SELECT account_id FROM task WHERE id = $1) c
     CROSS JOIN LATERAL (
       SELECT * FROM ledger_entry e
        WHERE e.account_id = c.account_id AND e.hold_id = $1 AND e.kind = 'charge' AND e.id = $1 OFFSET 0) l
    UNION ALL
    SELECT 'ledger_entry', l.id, l.account_id, l.position
      FROM (SELECT id, account_id, position FROM ledger_entry
             WHERE account_id = $3 AND kind <> 'charge' ORDER BY account_id DESC, position DESC LIMIT ${MAX_ENTRIES}) l
     WHERE l.id = $1) found
   WHERE kind = ANY ($2) AND ($3::uuid IS NULL OR account_id = $3)
   ORDER BY kind LIMIT ${MAX_FOUND}`;

/** Rows, not equal columns, are compared, so that the planner can use no other index than that of the names. */
const callsOf = (kind: 'execution' | 'task') => `
  (SELECT '${kind}' AS kind, c.id::text AS id, c.account_id, NULL::bigint AS position FROM ${kind} c
    WHERE c.client_request_id IS NOT NULL
      AND (c.account_id, c.client_request_id, c.id) >= (a.id, $1, '00000000-0000-0000-0000-000000000000'::uuid)
      AND (c.account_id, c.client_request_id, c.id) <= (a.id, $1, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
    ORDER BY c.account_id DESC, c.client_request_id DESC, c.id DESC LIMIT ${MAX_FOUND})`;
const BY_NAME = `
  SELECT kind, id, account_id AS "accountId", position FROM (
    (SELECT 'price_book' AS kind, id, NULL::uuid AS account_id, NULL::bigint AS position FROM price_book
      WHERE id = $1 AND $2::uuid IS NULL)
    UNION ALL
    (SELECT named.* FROM (
       SELECT id FROM account WHERE $2::uuid IS NULL OR id = $2 ORDER BY id DESC LIMIT ${MAX_ACCOUNTS}) a
      CROSS JOIN LATERAL (
        ${callsOf('execution')}
        UNION ALL ${callsOf('task')}
        UNION ALL
        (SELECT 'ledger_entry', e.id::text, e.account_id, e.position FROM ledger_entry e
          WHERE e.account_id = a.id AND e.idempotency_key = $1 LIMIT 1)) named
      LIMIT ${MAX_FOUND})) found`;

/** Finds what has an id, for operators. Each part of its statements reads an index. */
@Injectable()
export class IdSearch {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * What has the id or was given the name by its caller or operator: at most 20 records, none where nothing has it. Throws 400
   * `invalid_request` for an `account_id` that is no id of one.
   */
  async find({ id, account_id: account }: FindQuery): Promise<FoundRecord[]> {
    const accountId = filterId('acct', 'account_id', account) ?? null;
    const [byId, byName] = await Promise.all([
      this.byId(id, accountId),
      this.dataSource.query<FoundRecord[]>(BY_NAME, [id, accountId]),
    ]);
    return [...byId, ...byName].slice(0, MAX_FOUND);
  }

  private async byId(id: string, accountId: string | null): Promise<FoundRecord[]> {
    const [, prefix = '', rest = ''] = PREFIXED.exec(id) ?? [];
    const known = KINDS_OF_PREFIX.get(prefix);
    const kinds = known ?? FOUND_KINDS;
    const hex = HEX_32.exec(known ? rest : id);
    if (hex === null) return [];
    const uuid = hex.slice(1).join('-').toLowerCase();
    return this.dataSource.query<FoundRecord[]>(BY_ID, [uuid, kinds, accountId]);
  }
}
