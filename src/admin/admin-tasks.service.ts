import { Injectable } from '@nestjs/common';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import type { LedgerEntry } from '../billing/ledger-entry.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { toGatewayError } from '../common/errors/to-gateway-error.js';
import { toPublicId } from '../common/ids/public-id.js';
import { filterId, notFound, pathId } from '../common/ids/id-params.js';
import { formatMicroUsd, parseMicroUsd } from '../common/money/micro-usd.js';
import { type PageView, viewPage } from '../common/paging/page.view.js';
import type { ContentLinkView } from '../tasks/content-links/content-link.view.js';
import type { AdminTasksQuery } from '../tasks/dto/tasks.query.js';
import type { Task } from '../tasks/task.js';
import { TaskKinds } from '../tasks/task-kinds.js';
import { TaskContents } from '../tasks/reads/task-contents.js';
import { TaskRepository } from '../tasks/reads/task.repository.js';
import { filterOf } from '../tasks/reads/tasks.service.js';
import { TaskCollection } from '../tasks/collection/task-collection.js';
import { TaskResolution } from '../tasks/completion/task-resolution.js';
import type { RefundBody } from './dto/admin.bodies.js';
import type { ResolveTaskBody } from './dto/resolve-task.body.js';
import { sentRefund } from './sent-refund.js';
import { viewAdminTask } from './views/admin-task.view.js';

/** A task that is worth collecting. */
export interface CollectableTask {
  readonly id: string;
  readonly task_status: string;
  readonly model: string;
  readonly account_id: string;
  /** What collecting it charges, in micro-USD. */
  readonly charge_microusd: string;
}

/** What came of it: `collected`, or why not. */
export interface CollectedTask extends CollectableTask {
  readonly outcome: string;
}

/** What operators do with tasks, for both the API and the command line. Ids are public ids. */
@Injectable()
export class AdminTasksService {
  constructor(
    private readonly reader: TaskRepository,
    private readonly resolution: TaskResolution,
    private readonly collection: TaskCollection,
    private readonly kinds: TaskKinds,
    private readonly contents: TaskContents,
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
  async find(id: string): Promise<Task> {
    const task = await this.reader.findAnywhere(pathId('task', id));
    if (!task) throw notFound('task');
    return task;
  }

  /** The task as operators see it; 404 `not_found`. */
  async get(id: string): Promise<object> {
    return this.view(await this.find(id));
  }

  /** A link to the file of the task; throws 404 `not_found` and what {@link TaskContents.linkTo} throws. */
  async contentLink(id: string): Promise<ContentLinkView> {
    return this.contents.linkTo(await this.find(id));
  }

  /** 404 `not_found`, 409 `conflict` if the task is in another state, 400 for an invalid charge. */
  async resolve(id: string, body: ResolveTaskBody): Promise<object> {
    const uuid = pathId('task', id);
    const { outcome, charged_microusd: charge, result } = body;
    const chargedMicroUsd = charge === undefined ? undefined : parseMicroUsd(charge);
    if (outcome !== 'collect') {
      return this.view(await this.resolution.resolve(uuid, { outcome, chargedMicroUsd, result }));
    }
    if (result !== undefined) {
      const message = 'The result that is collected is the one that the provider gives.';
      throw new GatewayError('invalid_request', message, { param: 'result' });
    }
    return this.view(await this.collection.collect(uuid, chargedMicroUsd));
  }

  /**
   * The tasks that {@link collectAll} collects, oldest first: those whose providers were seen to succeed. Each with the amount
   * that is charged for it: what is held, and nothing where the hold is released.
   */
  async collectable(limit: number): Promise<CollectableTask[]> {
    return (await this.reader.lateSuccesses(limit)).map(collectableOf);
  }

  /** Collects them one after the other, whatever becomes of the others. */
  async collectAll(limit: number): Promise<CollectedTask[]> {
    const done: CollectedTask[] = [];
    for (const task of await this.collectable(limit)) {
      const collecting = this.collection.collect(pathId('task', task.id));
      done.push({
        ...task,
        outcome: await collecting.then(
          () => 'collected',
          (error: unknown) => toGatewayError(error).message,
        ),
      });
    }
    return done;
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

function collectableOf({ id, accountId, status, model, reservedMicroUsd }: Task): CollectableTask {
  const charge = status === 'reconciliation_required' ? reservedMicroUsd : 0n;
  return {
    id: toPublicId('task', id),
    task_status: status,
    model,
    account_id: toPublicId('acct', accountId),
    charge_microusd: formatMicroUsd(charge),
  };
}
