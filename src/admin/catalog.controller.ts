import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CatalogChanges } from '../catalog/catalog-changes.js';
import { viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { CatalogChangesQuery } from './dto/catalog.queries.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';
import { CatalogChangePage, viewCatalogChange } from './views/catalog-change.view.js';

/** What models cost, and from when on (docs/operate/operations.md). */
@OperatorEndpoint()
@Controller('admin/catalog')
export class CatalogController {
  constructor(private readonly changes: CatalogChanges) {}

  @Get('changes')
  @ApiOperation({
    summary: 'Changes of prices, newest first',
    description:
      'Which model cost what, from when on, and by which file. A change is recorded within seconds of the start or the reload that brings it, once however many processes there are.',
  })
  @ApiOkResponse({ type: CatalogChangePage })
  async listCatalogChanges(@StrictQuery() query: CatalogChangesQuery) {
    return viewPage(await this.changes.list(query), viewCatalogChange);
  }
}
