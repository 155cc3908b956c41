import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Page, PageRequest } from '../../common/paging/page.js';
import { keysetPage } from '../../platform/database/keyset-pagination.js';
import {
  type Execution,
  executionOf,
  type ExecutionRow,
  type ExecutionStatus,
} from './execution.js';

/** Which executions to list; all filters must hold. */
export interface ExecutionQuery extends PageRequest {
  readonly accountId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  readonly status?: ExecutionStatus | undefined;
  readonly model?: string | undefined;
  readonly clientRequestId?: string | undefined;
  /** True: only streams that broke off and were not charged. False: all others. */
  readonly isBroken?: boolean | undefined;
  /** Inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
}

const COMPARISONS: readonly (readonly [keyof ExecutionQuery, string])[] = [
  ['accountId', 'account_id ='],
  ['apiKeyId', 'api_key_id ='],
  ['status', 'status ='],
  ['model', 'model ='],
  ['clientRequestId', 'client_request_id ='],
  ['isBroken', '(uncharged IS NOT NULL) ='],
  ['createdAfter', 'created_at >='],
  ['createdBefore', 'created_at <'],
];

/** The most selective index for this query. */
function indexFor({ accountId, apiKeyId, clientRequestId }: ExecutionQuery) {
  if (accountId !== undefined && clientRequestId !== undefined) {
    const lead = [...ofAccount(accountId), ['client_request_id', clientRequestId]] as const;
    return { lead, guard: 'client_request_id IS NOT NULL' };
  }
  if (apiKeyId !== undefined) return { lead: [['api_key_id', apiKeyId]] as const };
  return { lead: accountId === undefined ? [] : ofAccount(accountId) };
}

const ofAccount = (accountId: string) => [['account_id', accountId]] as const;

/** Finds and lists executions; `ExecutionLedger` writes them. */
@Injectable()
export class ExecutionsService {
  constructor(private readonly dataSource: DataSource) {}

  /** The execution, or undefined. With `accountId`, only if it belongs to that account. */
  async find(id: string, accountId?: string): Promise<Execution | undefined> {
    const [row] = await this.dataSource.query<ExecutionRow[]>(
      `SELECT * FROM execution WHERE id = $1 AND ($2::uuid IS NULL OR account_id = $2)`,
      [id, accountId ?? null],
    );
    return row && executionOf(row);
  }

  /** Executions, newest first; a page reads at most 10,000 of them. */
  async list(query: ExecutionQuery): Promise<Page<Execution>> {
    if (!(await this.isKeyOf(query))) return { items: [], nextCursor: null };
    const { createdAfter, createdBefore } = query;
    const listing = {
      table: 'execution',
      filter: query,
      comparisons: COMPARISONS,
      ...indexFor(query),
      createdAfter,
      createdBefore,
    } as const;
    return keysetPage(this.dataSource, listing, query, executionOf);
  }

  /** The index by key has no account column, so this check keeps callers from listing the calls of another account's key. */
  private async isKeyOf({ apiKeyId, accountId }: ExecutionQuery): Promise<boolean> {
    if (apiKeyId === undefined || accountId === undefined) return true;
    const rows = await this.dataSource.query<unknown[]>(
      `SELECT FROM api_key WHERE id = $1 AND account_id = $2`,
      [apiKeyId, accountId],
    );
    return rows.length > 0;
  }
}
