import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { FindQuery } from './dto/find.query.js';
import { IdSearch } from './id-search.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';
import { FoundRecordPage, viewFound } from './views/found-record.view.js';

/** What has an id (docs/operate/operations.md). */
@OperatorEndpoint()
@Controller('admin/find')
export class FindController {
  constructor(private readonly search: IdSearch) {}

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'What has this id',
    description:
      'Takes an id of any kind, with or without its prefix, and the names that callers and operators give: client request ids, idempotency keys of credits, names of price books. At most 20 records; none where nothing has the id. A ledger entry that is no charge is found by its id where `account_id` says of which account it is.',
  })
  @ApiOkResponse({ type: FoundRecordPage })
  async findById(@StrictQuery() query: FindQuery) {
    return viewPage({ items: await this.search.find(query), nextCursor: null }, viewFound);
  }
}
