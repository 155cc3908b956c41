import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { RESPOND_ASYNC } from '../../admission/preferences.js';
import { routesForQuote } from '../../admission/route-choice.js';
import type { Quote } from '../../common/money/charge-basis.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import type { MediaFile } from '../../providers/ports/audio.port.js';
import type { Operation } from '../../providers/ports/provider-ports.js';
import { FormerProcesses } from '../submission/former-processes.js';
import type { PreparedTask } from '../submission/task-request.js';
import { TaskResponseInterceptor } from '../submission/task-response.interceptor.js';
import { TaskSubmission } from '../submission/task-submission.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';
import type { CallOrder, DeferredWork, Ordered } from './call-order.js';
import { DeferredCallKind, DeferredParts } from './deferred-call.kind.js';
import { fileIdsOf, packedOrder, type WaitingFile } from './deferred-input.js';

/** Synchronous calls that their callers want as tasks (`Prefer: respond-async`; API: Shared audio rules). */
@Injectable()
export class DeferredCalls {
  constructor(
    private readonly submission: TaskSubmission,
    private readonly answers: TaskResponseInterceptor,
    private readonly former: FormerProcesses,
    private readonly kinds: TaskKinds,
    private readonly gatewayUrl: GatewayUrl,
    private readonly parts: DeferredParts,
  ) {}

  /** Lets the calls of an operation become tasks; features call it in `onModuleInit`. */
  register<O extends Operation, C extends object>(work: DeferredWork<O, C>): void {
    this.kinds.register(new DeferredCallKind(work, this.parts));
  }

  /**
   * Submits the call and answers 202 with its task. The call is checked, measured, priced and held as a synchronous one. Throws
   * what `ordered` throws, what `TaskSubmission.submit` throws, and 503 beside a process of version 0.1.0.
   */
  async submit<O extends Operation, C extends object>(
    call: AdmittedCall<O>,
    body: object,
    ordered: Ordered<C>,
    response: Response,
  ): Promise<void> {
    const { deferral } = call;
    assert(deferral, 'the call is not to become a task');
    const { idempotencyKey, webhook, sent, files } = deferral;
    await this.former.refuse('Prefer');
    const request = {
      // The compiler does not see that a call of one operation is a call of some operation.
      call: { ...(call as unknown as AdmittedCall), body: sent },
      kind: call.row.operation,
      body: { ...body, ...(webhook && { webhook }), ...(files && { files }) },
      idempotencyKey,
      webhook,
      // The rules of dubs.
      family: 'dubbing' as const,
    };
    const prepare = () => ordered((order) => this.prepared(request.call, order));
    this.answer(await this.submission.submit(request, prepare), response);
  }

  /** Answers 202 with the task. */
  answer(task: Task, response: Response): void {
    response.setHeader('Preference-Applied', RESPOND_ASYNC);
    const view = this.answers.answerOf(task, response);
    response.status(202).json(view);
  }

  private async prepared<C extends object>(
    call: AdmittedCall,
    order: CallOrder<C>,
  ): Promise<PreparedTask> {
    const { accountId } = call.caller;
    const kept: string[] = [];
    const discard = async (): Promise<void> => {
      await Promise.all(kept.map((id) => this.parts.sources.remove(accountId, id)));
    };
    try {
      const input = await packedOrder(order, (file) => this.keep(call, file, kept));
      const quote = payable(order.quote);
      const { routes = call.routes } = order;
      const [route, ...others] = routesForQuote({ ...call, routes }, quote);
      assert(route, 'admitted call has no route');
      const details = { gatewayUrl: this.gatewayUrl.href, sourceFileIds: fileIdsOf(input) };
      return { input, details, quote, route, others, discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  private async keep(
    { caller, executionId: ownerId }: AdmittedCall,
    { path, filename, contentType }: MediaFile,
    kept: string[],
  ): Promise<WaitingFile> {
    const { accountId } = caller;
    const { id: fileId } = await this.parts.sources.keep({ accountId, ownerId, path, contentType });
    kept.push(fileId);
    return { fileId, filename, contentType };
  }
}

/** A hold of nothing is one micro-USD, because every task has a hold. */
function payable(quote: Quote): Quote {
  return quote.amountMicroUsd > 0n ? quote : { ...quote, amountMicroUsd: 1n };
}
