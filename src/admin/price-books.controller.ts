import { Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
} from '@nestjs/swagger';
import { MovesMoney, NeedsRole } from '../auth/operators/role.js';
import { BodyOptional } from '../platform/http-server/request-body/json-body.guard.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { CreatePriceBookBody, ReplacePriceBookBody, WhatIfBody } from './dto/price-book.bodies.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import { OperatorPriceBooks } from './operator-price-books.js';
import {
  PriceBookPage,
  PriceBookView,
  viewPriceBook,
  viewWhatIf,
  WhatIfView,
} from './views/price-book.view.js';

const EXAMPLE: Pick<CreatePriceBookBody, 'factor_permille' | 'models'> = {
  factor_permille: 900,
  models: [{ id: 'aud-v4', price: { unit: 'code_point', micro_usd: 100 } }],
};

/** Prices of some accounts (docs/operate/operations.md, "Price books"). */
@OperatorEndpoint()
@Controller('admin/price-books')
export class PriceBooksController {
  constructor(private readonly books: OperatorPriceBooks) {}

  @Post()
  @NeedsRole('admin')
  @MovesMoney()
  @TakesJson()
  @BodyExamples(CreatePriceBookBody, { partners: { id: 'partners', ...EXAMPLE } })
  @ApiOperation({
    summary: 'Create a price book',
    description:
      'A factor on the listed prices, prices of its own for some models, or both. No account has it yet: `PATCH /admin/accounts/{id}` gives it.',
  })
  @ApiCreatedResponse({ type: PriceBookView })
  async createAdminPriceBook(@StrictBody() body: CreatePriceBookBody) {
    return viewPriceBook(await this.books.create(body));
  }

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'List price books, by id',
    description: 'Each as it is in force, with the versions that begin later.',
  })
  @ApiOkResponse({ type: PriceBookPage })
  async listAdminPriceBooks(@StrictQuery() query: PageQuery) {
    return viewPage(await this.books.list(query), viewPriceBook);
  }

  @Get(':id')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'One price book',
    description: 'As it is in force, with the versions that begin later.',
  })
  @ApiOkResponse({ type: PriceBookView })
  async retrieveAdminPriceBook(@Param('id') id: string) {
    return viewPriceBook(await this.books.get(id));
  }

  @Put(':id')
  @NeedsRole('admin')
  @MovesMoney()
  @TakesJson()
  @BodyExamples(ReplacePriceBookBody, { factor: { factor_permille: 850 }, prices: EXAMPLE })
  @ApiOperation({
    summary: 'Replace what a price book says, now or from a time on',
    description:
      'What is absent is not in the new version. With `replaces_version` it is written only if nobody has written another one since you read the book. It is in force on every replica within 2 s; calls and tasks under way keep their price.',
  })
  @ApiOkResponse({ type: PriceBookView })
  async replaceAdminPriceBook(@Param('id') id: string, @StrictBody() body: ReplacePriceBookBody) {
    return viewPriceBook(await this.books.replace(id, body));
  }

  @Delete(':id')
  @NeedsRole('admin')
  @MovesMoney()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a price book that no account has',
    description: 'Calls and tasks that were priced by it go on naming it.',
  })
  @ApiNoContentResponse()
  deleteAdminPriceBook(@Param('id') id: string): Promise<void> {
    return this.books.delete(id);
  }

  @Post(':id/what-if')
  @NeedsRole('finance')
  @HttpCode(200)
  @TakesJson()
  @BodyOptional()
  @BodyExamples(WhatIfBody, { november: { from: 1793491200, to: 1796083200 } })
  @ApiOperation({
    summary: 'What every account would have paid by a price book',
    description:
      'Prices the calls and tasks anew that were charged in the time: the last whole month of UTC where none is named. Changes nothing.',
  })
  @ApiOkResponse({ type: WhatIfView })
  async previewAdminPriceBook(@Param('id') id: string, @StrictBody() body: WhatIfBody) {
    return viewWhatIf(await this.books.whatIf(id, body));
  }
}
