import { Controller, Get, Headers, Param, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { MovesMoney, NeedsRole } from '../auth/operators/role.js';
import { BodyOptional } from '../platform/http-server/request-body/json-body.guard.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { RefundBody } from './dto/admin.bodies.js';
import { actionQueryOf, ActionsQuery, AdminExecutionsQuery } from './dto/admin.queries.js';
import { OperatorActions } from '../auth/acts/operator-actions.js';
import {
  IdempotencyKeyHeader,
  OperatorEndpoint,
  TakesJson,
} from './operator-endpoint.decorator.js';
import { answerEntry, REPLAY_HEADERS } from './replayed-entry.js';
import { OperatorService } from './operator.service.js';
import { viewPage } from '../common/paging/page.view.js';
import {
  AdminExecutionPage,
  AdminExecutionView,
  viewAdminExecution,
} from './views/admin-execution.view.js';
import { AuditView, viewAudit } from './views/audit.view.js';
import { LedgerEntryView } from './views/ledger-entry.view.js';
import { OperatorActionPage, viewAction } from './views/operator-action.view.js';
import { ShowsContent } from './shown-by-role.interceptor.js';

/** Executions, operator actions and the audit (docs/operate/operations.md). */
@OperatorEndpoint()
@Controller('admin')
export class RecordsController {
  constructor(
    private readonly operator: OperatorService,
    private readonly actions: OperatorActions,
  ) {}

  @Get('executions')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Synchronous calls, newest first',
    description:
      'Of all accounts. Each call has its route, its provider and what was charged. Filters can be combined.',
  })
  @ApiOkResponse({ type: AdminExecutionPage })
  async listAdminExecutions(@StrictQuery() query: AdminExecutionsQuery) {
    return viewPage(await this.operator.listExecutions(query), viewAdminExecution);
  }

  @Get('executions/:id')
  @NeedsRole('viewer')
  @ShowsContent('execution:look')
  @ApiOperation({
    summary: 'One synchronous call, by its x-gateway-execution-id',
    description:
      "What the caller sees, and also the route, the id at the provider, and the provider's error.",
  })
  @ApiOkResponse({ type: AdminExecutionView })
  async retrieveAdminExecution(@Param('id') id: string): Promise<AdminExecutionView> {
    return viewAdminExecution(await this.operator.execution(id));
  }

  @Post('executions/:id/refund')
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
    summary: 'Give the charge of a synchronous call back, or a part of it',
    description:
      'Without an amount, all that is left of the charge is given back. A part needs an `Idempotency-Key`, and a repeat moves nothing.',
  })
  @ApiCreatedResponse({ type: LedgerEntryView, headers: REPLAY_HEADERS })
  async refundExecution(
    @Param('id') id: string,
    @StrictBody() body: RefundBody,
    @Res({ passthrough: true }) response: Response,
    @Headers('Idempotency-Key') key?: string,
  ) {
    return answerEntry(await this.operator.refund(id, body, key), response);
  }

  @Get('audit')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Prove posted = sum of entries and held = sum of open holds',
    description:
      'Reads all accounts. `ok` is true when every rule holds; otherwise each discrepancy names its account.',
  })
  @ApiOkResponse({ type: AuditView })
  async auditBooks() {
    return viewAudit(await this.operator.audit());
  }

  @Get('operator-actions')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'What operators asked to change, newest first',
    description:
      'Every call of the operator API and every command that changes something, with who asked, from where, and what came of it.',
  })
  @ApiOkResponse({ type: OperatorActionPage })
  async listOperatorActions(@StrictQuery() query: ActionsQuery) {
    return viewPage(await this.actions.list(actionQueryOf(query)), viewAction);
  }
}
