import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { Catalog } from '../catalog/catalog.js';
import { checkOverlay } from '../catalog/catalog-check.js';
import { overlaidCatalog } from '../catalog/catalog-file.js';
import { CatalogChanges } from '../catalog/catalog-changes.js';
import { viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { checkRoutes } from '../providers/provider-configs.js';
import { CatalogChangesQuery } from './dto/catalog.queries.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import { CatalogChangePage, viewCatalogChange } from './views/catalog-change.view.js';
import {
  CatalogCheckView,
  CatalogModelPage,
  viewCatalogCheck,
  viewCatalogModel,
} from './views/catalog-model.view.js';

/** What models cost, and from when on (docs/operate/operations.md). */
@OperatorEndpoint()
@Controller('admin/catalog')
export class CatalogController {
  constructor(
    private readonly changes: CatalogChanges,
    private readonly catalog: Catalog,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'vendorsDir'>,
  ) {}

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Models that are sold, with their routes and costs',
    description:
      'As this process sells them now: the built-in models with the overlay of `CATALOG_FILE`, and what the overlay changed in each. All are on one page.',
  })
  @ApiOkResponse({ type: CatalogModelPage })
  listCatalog() {
    const page = { items: this.catalog.enabled(), nextCursor: null };
    return viewPage(page, (row) => viewCatalogModel(row, this.catalog));
  }

  @Post('check')
  @NeedsRole('admin')
  @HttpCode(200)
  @TakesJson()
  @ApiBody({
    schema: {
      type: 'object',
      additionalProperties: true,
      description: 'An overlay, as the file of `CATALOG_FILE` has it',
    },
    examples: { disable: { value: { models: [{ id: 'aud-v3', enabled: false }] } } },
  })
  @ApiOperation({
    summary: 'Check an overlay on the catalog without using it',
    description:
      'Says what it would change against what this process sells now, or names everything that is wrong in it. Nothing changes. A fault of the overlay is no error of the call.',
  })
  @ApiOkResponse({ type: CatalogCheckView })
  checkCatalog(@Body() overlay: unknown) {
    const load = () => checkRoutes(this.config, overlaidCatalog(overlay, this.config.vendorsDir));
    return viewCatalogCheck(checkOverlay(load, this.catalog.enabled()));
  }

  @Get('changes')
  @NeedsRole('viewer')
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
