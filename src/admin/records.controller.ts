import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { type AdminExecutionView, viewAdminExecution, viewAudit, viewPage } from './admin.views.js';
import { ExecutionsQuery } from './dto/admin.queries.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';
import { OperatorService } from './operator.service.js';

/** What happened, and the proof of the books (interface: Operator API). */
@OperatorEndpoint()
@Controller('admin')
export class RecordsController {
  constructor(private readonly operator: OperatorService) {}

  @Get('executions')
  @ApiOperation({ summary: 'Synchronous calls, newest first' })
  async executions(@StrictQuery() query: ExecutionsQuery) {
    return viewPage(await this.operator.listExecutions(query), viewAdminExecution);
  }

  @Get('executions/:id')
  @ApiOperation({ summary: 'One synchronous call, by its x-gateway-execution-id' })
  async execution(@Param('id') id: string): Promise<AdminExecutionView> {
    return viewAdminExecution(await this.operator.execution(id));
  }

  @Get('audit')
  @ApiOperation({ summary: 'Prove posted = sum of entries and held = sum of open holds' })
  async audit() {
    return viewAudit(await this.operator.audit());
  }
}
