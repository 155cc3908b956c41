import { Injectable } from '@nestjs/common';
import { ApiKeysService } from '../auth/api-keys.service.js';
import type { AuditScope } from '../billing/audit.js';
import { LedgerAudit } from '../billing/ledger-audit.js';
import { LedgerService } from '../billing/ledger.service.js';
import { type Page, pageOf } from '../common/paging/page.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { filterId, notFound, pathId } from '../common/ids/sent-id.js';
import { parseMicroUsd } from '../common/money/micro-usd.js';
import { executionQueryOf } from '../executions/dto/executions.query.js';
import { ExecutionLedger } from '../executions/execution-ledger.js';
import type { CreateKeyBody, CreditBody } from './dto/admin.bodies.js';
import type { PageQuery } from '../common/paging/page.query.js';
import type { AdminExecutionsQuery } from './dto/admin.queries.js';
import type { ApiKeyRecord } from '../auth/api-key-record.js';

const KEY_FORM = /^[\x21-\x7e]{1,200}$/;

/** What operators do, for the API and the command line alike. Ids are public ids; an unknown one is 404 `not_found`. */
@Injectable()
export class OperatorService {
  constructor(
    private readonly ledger: LedgerService,
    private readonly keys: ApiKeysService,
    private readonly executions: ExecutionLedger,
    private readonly books: LedgerAudit,
  ) {}

  createAccount(name: string) {
    return this.ledger.createAccount(name);
  }

  accounts(query: PageQuery) {
    return this.ledger.accounts(query);
  }

  async account(id: string) {
    return this.ledger.account(pathId('acct', id));
  }

  /** Credits or corrects. Throws 400 without an idempotency key, 409 for the same key with another amount. */
  async credit(id: string, body: CreditBody, idempotencyKey: string | undefined) {
    const accountId = pathId('acct', id);
    if (idempotencyKey === undefined || !KEY_FORM.test(idempotencyKey)) {
      const message = 'Idempotency-Key is required: 1 to 200 visible ASCII characters.';
      throw new GatewayError('invalid_request', message, { param: 'Idempotency-Key' });
    }
    return this.ledger.credit({
      accountId,
      amountMicroUsd: parseMicroUsd(body.amount_microusd) ?? 0n,
      idempotencyKey,
      reference: body.note ?? null,
    });
  }

  async entries(id: string, query: PageQuery) {
    return this.ledger.entries(pathId('acct', id), query);
  }

  async createKey(id: string, body: CreateKeyBody) {
    const account = await this.account(id);
    return this.keys.issue(account.id, {
      name: body.name ?? null,
      allowedModels: body.allowed_models ?? null,
      expiresAt: body.expires_at === undefined ? null : new Date(body.expires_at * 1000),
      requestsPerMinute: body.requests_per_minute ?? null,
    });
  }

  async listKeys(id: string, { cursor, limit }: PageQuery): Promise<Page<ApiKeyRecord>> {
    const account = await this.account(id);
    const before = cursor === undefined ? undefined : cursorUuid(cursor);
    const rows = await this.keys.list(account.id, limit + 1, before);
    return pageOf(
      rows,
      limit,
      (row) => row,
      (row) => row.id,
    );
  }

  async revokeKey(id: string): Promise<void> {
    if (!(await this.keys.revoke(pathId('key', id)))) throw notFound('key');
  }

  async rotateKey(id: string, overlapSeconds: number) {
    const issued = await this.keys.rotate(pathId('key', id), overlapSeconds * 1000);
    if (!issued) throw notFound('key');
    return issued;
  }

  listExecutions({ account_id: accountId, ...query }: AdminExecutionsQuery) {
    const account = filterId('acct', 'account_id', accountId);
    return this.executions.list({ ...executionQueryOf(query), accountId: account });
  }

  async execution(id: string) {
    const execution = await this.executions.find(pathId('exec', id));
    if (!execution) throw notFound('exec');
    return execution;
  }

  audit(scope?: AuditScope) {
    return this.books.run(scope);
  }
}

const CURSOR_FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function cursorUuid(cursor: string): string {
  if (CURSOR_FORM.test(cursor)) return cursor;
  const message = 'cursor is not one this list gave.';
  throw new GatewayError('invalid_request', message, { param: 'cursor' });
}
