import { Injectable } from '@nestjs/common';
import { LedgerService } from '../billing/ledger.service.js';
import type { LedgerEntry } from '../billing/ledger-entry.js';
import { filterId, notFound, pathId } from '../common/ids/sent-id.js';
import { parseMicroUsd } from '../common/money/micro-usd.js';
import { type PageView, viewPage } from '../common/paging/page.view.js';
import type { AdminTasksQuery } from '../tasks/dto/tasks.query.js';
import type { Task } from '../tasks/task.js';
import { TaskKinds } from '../tasks/task-kinds.js';
import { TaskReader } from '../tasks/reads/task-reader.js';
import { filterOf } from '../tasks/reads/task-reads.js';
import { TaskResolution } from '../tasks/ending/task-resolution.js';
import type { RefundBody } from './dto/admin.bodies.js';
import type { ResolveTaskBody } from './dto/resolve-task.body.js';
import { sentRefund } from './sent-refund.js';
import { viewAdminTask } from './views/admin-task.view.js';

/** What operators do with tasks, for both the API and the command line. Ids are public ids. */
@Injectable()
export class AdminTasksService {
  constructor(
    private readonly reader: TaskReader,
    private readonly resolution: TaskResolution,
    private readonly kinds: TaskKinds,
    private readonly ledger: LedgerService,
  ) {}

  /** Newest first; 400 `invalid_request` for an invalid id. */
  async list(query: AdminTasksQuery): Promise<PageView<object>> {
    const accountId = filterId('acct', 'account_id', query.account_id);
    const apiKeyId = filterId('key', 'api_key_id', query.api_key_id);
    const page = await this.reader.list({ ...filterOf(query), accountId, apiKeyId }, query);
    return viewPage(page, (task) => this.view(task));
  }

  /** 404 `not_found`. */
  async get(id: string): Promise<object> {
    const task = await this.reader.findAnywhere(pathId('task', id));
    if (!task) throw notFound('task');
    return this.view(task);
  }

  /** 404 `not_found`, 409 `conflict` if the task is in another state, 400 for an invalid charge. */
  async resolve(id: string, body: ResolveTaskBody): Promise<object> {
    const uuid = pathId('task', id);
    const { outcome, charged_microusd: charge, result } = body;
    const chargedMicroUsd = charge === undefined ? undefined : parseMicroUsd(charge);
    return this.view(await this.resolution.resolve(uuid, { outcome, chargedMicroUsd, result }));
  }

  /** Gives a part of the charge back, or what is left of it; see {@link LedgerService.refund}. */
  async refund(
    id: string,
    body: RefundBody,
    idempotencyKey: string | undefined,
  ): Promise<LedgerEntry> {
    const refund = sentRefund(body, idempotencyKey);
    return this.ledger.refund({ of: 'task', id: pathId('task', id), ...refund });
  }

  private view(task: Task): object {
    return viewAdminTask(task, this.kinds.viewOf(task));
  }
}
