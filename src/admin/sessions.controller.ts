import { Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
} from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { ConsoleSessions } from '../auth/sessions/console-sessions.js';
import { notFound, pathId } from '../common/ids/id-params.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { BodyOptional } from '../platform/http-server/request-body/json-body.guard.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import { OperatorPortalLinks, PortalLinkBody, PortalLinkView } from './portal-links.js';
import { ConsoleSessionPage, viewConsoleSession } from './views/session.view.js';

/** Who is signed in to the console, and links that let customers in (docs/operate/console.md). */
@OperatorEndpoint()
@Controller('admin')
export class SessionsController {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly links: OperatorPortalLinks,
  ) {}

  @Get('sessions')
  @NeedsRole('admin')
  @ApiOperation({
    summary: 'Who is signed in to the console, newest session first',
    description: 'Operators and customers. A session that has ended is not among them.',
  })
  @ApiOkResponse({ type: ConsoleSessionPage })
  async listSessions(@StrictQuery() query: PageQuery) {
    return viewPage(await this.sessions.list(query), viewConsoleSession);
  }

  @Delete('sessions/:id')
  @NeedsRole('admin')
  @HttpCode(204)
  @ApiOperation({
    summary: 'End a session of the console',
    description: 'Its next request is refused, in every process. It may sign in again.',
  })
  @ApiNoContentResponse()
  async endSession(@Param('id') id: string): Promise<void> {
    if (!(await this.sessions.end(pathId('ses', id)))) throw notFound('ses');
  }

  @Post('accounts/:id/portal-links')
  @NeedsRole('support')
  @TakesJson()
  @BodyOptional()
  @BodyExamples(PortalLinkBody, { read: { scopes: ['read'] } })
  @ApiOperation({
    summary: 'Make a link that lets a customer into the console',
    description:
      'It opens a session of the account that reads only, once, within ten minutes. To call or to make keys the customer signs in with an API key.',
  })
  @ApiCreatedResponse({ type: PortalLinkView })
  makePortalLink(@Param('id') id: string, @StrictBody() body: PortalLinkBody) {
    return this.links.make(id, body);
  }
}
