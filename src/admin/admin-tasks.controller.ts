import { Controller, Get, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { MovesMoney, NeedsReason, NeedsRole } from '../auth/operators/role.js';
import { BodyOptional } from '../platform/http-server/request-body/json-body.guard.js';
import type { PageView } from '../common/paging/page.view.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { ContentLinkView } from '../tasks/content-links/content-link.view.js';
import { AdminTasksQuery } from '../tasks/dto/tasks.query.js';
import { AdminTasksService } from './admin-tasks.service.js';
import { RefundBody } from './dto/admin.bodies.js';
import { ResolveTaskBody } from './dto/resolve-task.body.js';
import {
  IdempotencyKeyHeader,
  OperatorEndpoint,
  TakesJson,
} from './operator-endpoint.decorator.js';
import { ShowsContent } from './shown-by-role.interceptor.js';
import { answerEntry, REPLAY_HEADERS } from './replayed-entry.js';
import {
  AdminTaskPage,
  AdminTaskView,
  ANY_ADMIN_TASK,
  OperatorTaskFields,
} from './views/admin-task.view.js';
import { LedgerEntryView } from './views/ledger-entry.view.js';

/** Tasks of all accounts, and the operator's decision on those whose outcome is unknown (docs/guides/tasks.md, "For operators"). */
@OperatorEndpoint()
@ApiExtraModels(AdminTaskView, OperatorTaskFields)
@Controller('admin/tasks')
export class AdminTasksController {
  constructor(private readonly tasks: AdminTasksService) {}

  @Get()
  @ShowsContent('task:look')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Tasks, newest first',
    description:
      'Of all accounts. Filters can be combined. A page ends early where results are large.',
  })
  @ApiOkResponse({ type: AdminTaskPage })
  listAdminTasks(@StrictQuery() query: AdminTasksQuery): Promise<PageView<object>> {
    return this.tasks.list(query);
  }

  @Get(':id')
  @ShowsContent('task:look')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'One task',
    description:
      'What the caller sees, and also the account, the key, the route and what was charged.',
  })
  @ApiOkResponse({ schema: ANY_ADMIN_TASK })
  retrieveAdminTask(@Param('id') id: string): Promise<object> {
    return this.tasks.get(id);
  }

  @Post(':id/content-link')
  @ShowsContent('task:content-link')
  @NeedsReason()
  @NeedsRole('support')
  @HttpCode(200)
  @ApiOperation({
    summary: 'A link to the file of a task of any account',
    description:
      'The link is good without a key until it expires, for GET and HEAD. Who asked for it is recorded.',
  })
  @ApiOkResponse({ type: ContentLinkView })
  @ErrorResponses(
    'not_found',
    'content_not_available',
    'conflict',
    'task_not_ready',
    'content_expired',
  )
  createAdminTaskContentLink(@Param('id') id: string): Promise<ContentLinkView> {
    return this.tasks.contentLink(id);
  }

  @Post(':id/resolve')
  @ShowsContent('task:look')
  @NeedsRole('finance')
  @MovesMoney()
  @HttpCode(200)
  @TakesJson()
  @BodyExamples(ResolveTaskBody, { failed: { outcome: 'failed' } })
  @ApiOperation({
    summary: 'Decide a task whose outcome is unknown',
    description: 'Settles or releases what it holds and tells its webhook again.',
  })
  @ApiOkResponse({ schema: ANY_ADMIN_TASK })
  resolveTask(@Param('id') id: string, @StrictBody() body: ResolveTaskBody): Promise<object> {
    return this.tasks.resolve(id, body);
  }

  @Post(':id/refund')
  @NeedsRole('finance')
  @MovesMoney()
  @TakesJson()
  @BodyOptional()
  @BodyExamples(RefundBody, {
    refund: { reason: 'goodwill', note: 'ticket 17' },
    part: { amount_microusd: '300', reason: 'fault' },
  })
  @IdempotencyKeyHeader({ required: false })
  @ApiOperation({
    summary: 'Give the charge of a task back, or a part of it',
    description:
      'Without an amount, all that is left of the charge is given back. A part needs an `Idempotency-Key`, and a repeat moves nothing.',
  })
  @ApiCreatedResponse({ type: LedgerEntryView, headers: REPLAY_HEADERS })
  async refundTask(
    @Param('id') id: string,
    @StrictBody() body: RefundBody,
    @Res({ passthrough: true }) response: Response,
    @Headers('Idempotency-Key') key?: string,
  ) {
    return answerEntry(await this.tasks.refund(id, body, key), response);
  }
}
