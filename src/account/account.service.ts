import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { LedgerService } from '../billing/ledger.service.js';
import { toPublicId } from '../common/ids/public-id.js';
import { notFound, pathId } from '../common/ids/sent-id.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import type { Page } from '../common/paging/page.js';
import { type ExecutionsQuery, executionQueryOf } from '../executions/dto/executions.query.js';
import type { Execution } from '../executions/execution.js';
import { ExecutionLedger } from '../executions/execution-ledger.js';
import { type ExecutionView, viewExecution } from '../executions/execution.view.js';
import type { AccountView } from './account.view.js';

/** What the holder of a key may read of the own account. */
@Injectable()
export class AccountService {
  constructor(
    private readonly ledger: LedgerService,
    private readonly executionLedger: ExecutionLedger,
  ) {}

  async account(caller: Caller): Promise<AccountView> {
    const account = await this.ledger.account(caller.accountId);
    return {
      object: 'account',
      id: toPublicId('acct', account.id),
      available_microusd: formatMicroUsd(account.availableMicroUsd),
      held_microusd: formatMicroUsd(account.heldMicroUsd),
    };
  }

  /** Calls of the whole account, whichever key made them. */
  executions(caller: Caller, query: ExecutionsQuery): Promise<Page<Execution>> {
    return this.executionLedger.list({ ...executionQueryOf(query), accountId: caller.accountId });
  }

  /** Throws the same 404 `not_found` for unknown, foreign and malformed ids. */
  async execution(caller: Caller, id: string): Promise<ExecutionView> {
    const execution = await this.executionLedger.find(pathId('exec', id), caller.accountId);
    if (!execution) throw notFound('exec');
    return viewExecution(execution);
  }
}
