import { Controller, Get, Param, Patch, Res, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { KeptAnswers } from '../admission/kept/kept-answers.js';
import { sendFileAnswer } from '../admission/kept/kept-files.js';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { NeedsScope } from '../auth/scope.guard.js';
import { KeyActionsInterceptor } from '../auth/acts/key-actions.interceptor.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { ClearedFields, StrictBody } from '../common/validation/strict-body.pipe.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { LowBalanceBody } from './dto/low-balance.body.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { pathId } from '../common/ids/id-params.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { PageOrCsv, viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { ExecutionsQuery } from '../billing/calls/dto/executions.query.js';
import { ExecutionPage, ExecutionView, viewExecution } from '../billing/calls/execution.view.js';
import { sendContent } from '../platform/http-server/responses/answer-copy.js';
import { AccountService } from './account.service.js';
import { UsageQuery } from '../billing/usage/dto/usage.query.js';
import { UsageService } from '../billing/usage/usage.service.js';
import { CSV_DESCRIPTION, UsagePage } from '../billing/usage/usage.view.js';
import { AccountView } from './account.view.js';
import { KeyView } from './key.view.js';

const BINARY = { schema: { type: 'string', format: 'binary' } };
/** Of calls with answers as JSON, of streams, and of audio. */
const ANSWERS = {
  'application/json': { schema: { type: 'object' } },
  'text/event-stream': { schema: { oneOf: [{ type: 'object' }, { type: 'string' }] } },
  'audio/mpeg': BINARY,
  'audio/ogg': BINARY,
  'audio/pcm': BINARY,
  'audio/wav': BINARY,
};

/** Self-service for the holder of a key (interface; decision G-16). */
@ApiTags('account')
@ApiKeyAuth('read')
@Controller('v1')
export class AccountController {
  constructor(
    private readonly accounts: AccountService,
    private readonly used: UsageService,
    private readonly answers: KeptAnswers,
  ) {}

  @Get('account')
  @ApiOperation({
    summary: 'Balance of the account of this key',
    description:
      'What is available to spend and what is held for calls that are under way, in micro-USD.',
  })
  @ApiOkResponse({ type: AccountView })
  retrieveAccount(@CurrentCaller() caller: Caller): Promise<AccountView> {
    return this.accounts.account(caller);
  }

  @Patch('account')
  @NeedsScope('manage')
  @UseGuards(JsonBodyGuard)
  @UseInterceptors(KeyActionsInterceptor)
  @BodyExamples(LowBalanceBody, { mark: { low_balance_microusd: '1000000' } })
  @ApiOperation({
    summary: 'Set the balance below which this account is told so',
    description: 'Endpoints that ask for `balance.low` get one event when less is available.',
  })
  @ApiOkResponse({ type: AccountView })
  @ErrorResponses('invalid_request', 'invalid_content_type', 'request_too_large')
  updateBalanceMark(
    @CurrentCaller() caller: Caller,
    @StrictBody() body: LowBalanceBody,
    @ClearedFields() cleared: ReadonlySet<string>,
  ): Promise<AccountView> {
    return this.accounts.markLow(caller, body, cleared);
  }

  @Get('key')
  @NeedsScope('call')
  @ApiOperation({
    summary: 'This key: its limits, what it has spent and what is left',
    description:
      'Read it to see which models the key may call, when it expires, and how much of its spend limit is left.',
  })
  @ApiOkResponse({ type: KeyView })
  retrieveKey(@CurrentCaller() caller: Caller): Promise<KeyView> {
    return this.accounts.key(caller);
  }

  @Get('usage')
  @ApiOperation({
    summary: 'What this account used, by day, hour, model, key, endpoint or run',
    description: CSV_DESCRIPTION,
  })
  @PageOrCsv(UsagePage)
  @ErrorResponses('invalid_request')
  retrieveUsage(
    @CurrentCaller() { accountId }: Caller,
    @StrictQuery() query: UsageQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    return this.used.respond(query, { accountId }, response);
  }

  @Get('executions')
  @ApiOperation({
    summary: 'Synchronous calls of this account, newest first',
    description:
      'Each call has its model, status, what was measured, and what was charged. Songs, videos and dubs are tasks: see `GET /v1/tasks`.',
  })
  @ApiOkResponse({ type: ExecutionPage })
  @ErrorResponses('invalid_request')
  async listExecutions(@CurrentCaller() caller: Caller, @StrictQuery() query: ExecutionsQuery) {
    return viewPage(await this.accounts.executions(caller, query), viewExecution);
  }

  @Get('executions/:id')
  @NeedsScope('call')
  @ApiOperation({
    summary: 'What happened to one of the synchronous calls of this account',
    description:
      'Works after a client timeout too: the id is in the header `x-gateway-execution-id`, and a chat completion carries it as `chatcmpl-…`.',
  })
  @ApiOkResponse({ type: ExecutionView })
  @ErrorResponses('not_found')
  retrieveExecution(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
  ): Promise<ExecutionView> {
    return this.accounts.execution(caller, id);
  }
  @Get('executions/:id/content')
  @NeedsScope('call')
  @ApiOperation({
    summary: 'The answer of a paid synchronous call again',
    description:
      'For 24 hours, where the call had `Prefer: keep` or an `Idempotency-Key`, where the account keeps all answers, and where the caller of an answer as JSON had left. With the content type of the answer.',
  })
  @ApiOkResponse({ description: 'The answer', content: ANSWERS })
  @ErrorResponses('not_found', 'content_not_available')
  async retrieveExecutionContent(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Res() response: Response,
  ): Promise<void> {
    const answer = await this.answers.find(caller.accountId, pathId('exec', id));
    if (answer) {
      if ('body' in answer) sendContent(response, answer);
      else await sendFileAnswer(response, answer);
      return;
    }
    await this.accounts.execution(caller, id);
    const message = 'The answer of this call is not kept, or was kept for longer than 24 hours.';
    throw new GatewayError('content_not_available', message);
  }
}
