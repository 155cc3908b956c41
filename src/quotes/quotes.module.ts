import { Module } from '@nestjs/common';
import { QuotedHolds } from '../billing/calls/quoted-hold.js';
import { PricedQuotes } from './priced-quotes.js';
import { QuotesController } from './quotes.controller.js';
import { QuotesService } from './quotes.service.js';

/** What calls would cost. */
@Module({
  controllers: [QuotesController],
  providers: [QuotesService, PricedQuotes, QuotedHolds],
})
export class QuotesModule {}
