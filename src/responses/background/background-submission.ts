import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { toPublicId } from '../../common/ids/public-id.js';
import type { JsonObject } from '../../common/json-object.js';
import type { Quote } from '../../common/money/charge-basis.js';
import type { OpenBody } from '../../common/validation/open-body.js';
import {
  setIgnoredFieldsHeader,
  setOutputCapHeaders,
  setSandboxHeader,
} from '../../platform/http-server/responses/gateway-headers.js';
import { checkedIdempotencyKey } from '../../admission/idempotency-key.guard.js';
import type { PreparedTask } from '../../tasks/submission/task-request.js';
import type { Task } from '../../tasks/task.js';
import { FormerProcesses } from '../../tasks/submission/former-processes.js';
import { TaskSubmission } from '../../tasks/submission/task-submission.js';
import { NamedImages } from '../../text/named-images.js';
import { routedCallOf } from '../../text/routed-call.js';
import { quoteOf } from '../../text/text-quote.js';
import type { ResponsesBody } from '../dto/responses.body.js';
import { PreparedResponses } from '../prepared-responses.js';
import { packedInput, RESPONSE_KIND } from './background-input.js';
import { BackgroundReads } from './background-reads.js';
import { BackgroundWork } from './background-work.js';

type Sent = OpenBody<ResponsesBody>;

/** Takes responses that are made in the background (API: Background). */
@Injectable()
export class BackgroundSubmission {
  constructor(
    private readonly submission: TaskSubmission,
    private readonly prepared: PreparedResponses,
    private readonly images: NamedImages,
    private readonly work: BackgroundWork,
    private readonly reads: BackgroundReads,
    private readonly former: FormerProcesses,
  ) {}

  /**
   * The response, `queued`; that of an earlier request with the same key and body is answered as it is now. Throws as
   * `TaskSubmission.submit`, 400 and 413 for a response that could not be stored, and 503 beside a process of version 0.1.0.
   */
  async submit(
    call: AdmittedCall<'chat'>,
    sent: Sent,
    request: Request,
    response: Response,
  ): Promise<JsonObject> {
    const { body } = sent;
    const task = await this.submission.submit(
      {
        call,
        kind: RESPONSE_KIND,
        body,
        idempotencyKey: checkedIdempotencyKey(request),
        webhook: webhookOf(body),
      },
      () => this.prepare(call, sent, response),
    );
    return this.answer(task, response);
  }

  /** The response of a task as it is now; sets the headers that name the task. Throws as `BackgroundReads.now`. */
  answer(task: Task, response: Response): Promise<JsonObject> {
    response.setHeader('x-gateway-task-id', toPublicId('task', task.id));
    setSandboxHeader(response, task.onSandbox);
    return this.reads.now(task);
  }

  private async prepare(
    call: AdmittedCall<'chat'>,
    sent: Sent,
    response: Response,
  ): Promise<PreparedTask> {
    const { asked, items } = await this.prepared.asked(call.caller.accountId, sent);
    const [route] = routedCallOf(call, asked).routes;
    assert(route, 'admitted call has no route');
    const input = packedInput(sent.body, items, call.row, route);
    this.work.checkStorage(items, input.body);
    await this.former.refuse('background');
    await this.images.check(asked.images);
    setIgnoredFieldsHeader(response, asked.ignored);
    const { hold } = quoteOf(call.row, asked);
    return {
      input,
      details: {},
      quote: payable(hold),
      route,
      onFitted: (reserved, reason) => {
        const cap = hold.outputCapFor?.(reserved);
        if (cap !== undefined) setOutputCapHeaders(response, cap, reason);
      },
    };
  }
}

/** A hold of nothing is one micro-USD, because every task has a hold. */
function payable(hold: Quote): Quote {
  return hold.amountMicroUsd > 0n ? hold : { ...hold, amountMicroUsd: 1n, fit: undefined };
}

function webhookOf({ webhook: url, webhook_secret: secret }: ResponsesBody) {
  return url === undefined ? undefined : { url, secret };
}
