import { ApiProperty } from '@nestjs/swagger';
import type { PriceBookVersion } from '../../catalog/price-books/price-book.js';
import type { PriceBook } from '../../catalog/price-books/price-book-store.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import type { WouldPay } from '../price-what-if.js';
import { PriceBookModelBody } from '../dto/price-book.bodies.js';

/** What a price book says from a time on. */
export class PriceBookVersionView {
  @ApiProperty({ type: 'integer', example: 1, description: 'Counts the versions of the book' })
  version!: number;

  @ApiProperty({
    type: 'integer',
    example: 900,
    description: 'Thousandths of the listed price, for models that are not in `models`',
  })
  factor_permille!: number;

  @ApiProperty({
    type: [PriceBookModelBody],
    description: 'Models with prices of their own, which the factor does not touch',
  })
  models!: readonly PriceBookModelBody[];

  @ApiProperty({ description: 'Epoch seconds from which on it holds' })
  valid_from!: number;
}

/** A price book: the version in force or, before the first one begins, that one. */
export class PriceBookView extends PriceBookVersionView {
  @ApiProperty({ example: 'partners', description: 'The name that its operator gave it' })
  id!: string;

  @ApiProperty({ enum: ['price_book'], description: 'Always `price_book`' })
  object!: 'price_book';

  @ApiProperty({
    type: 'integer',
    example: 1,
    description: 'The version that was written last, also one that is planned or past',
  })
  newest_version!: number;

  @ApiProperty({ type: [PriceBookVersionView], description: 'Versions that begin later' })
  planned!: readonly PriceBookVersionView[];

  @ApiProperty({ type: 'integer', description: 'Accounts that have it' })
  accounts!: number;
}

/** A page of price books. */
export class PriceBookPage extends pageOfViews(PriceBookView) {}

/** What an account paid, and would have paid by a price book. */
export class WouldPayView {
  @ApiProperty({ example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a', description: 'The account' })
  account_id!: string;

  @ApiProperty({ example: '600', description: 'Micro-USD that were charged in the time' })
  charged_microusd!: string;

  @ApiProperty({ example: '540', description: 'Micro-USD that the book would have charged' })
  would_charge_microusd!: string;
}

/** The accounts with charges in the time. */
export class WhatIfView {
  @ApiProperty({ enum: ['list'], description: 'Always `list`' })
  object!: 'list';

  @ApiProperty({ type: [WouldPayView], description: 'One for each account with charges' })
  data!: WouldPayView[];
}

/** What accounts would have paid. */
export function viewWhatIf(accounts: readonly WouldPay[]): WhatIfView {
  return {
    object: 'list',
    data: accounts.map(({ accountId, chargedMicroUsd, wouldChargeMicroUsd }) => ({
      account_id: toPublicId('acct', accountId),
      charged_microusd: formatMicroUsd(chargedMicroUsd),
      would_charge_microusd: formatMicroUsd(wouldChargeMicroUsd),
    })),
  };
}

/** The book as operators see it. */
export function viewPriceBook(book: PriceBook): PriceBookView {
  const { id, current, newestVersion, planned, accounts } = book;
  return {
    id,
    object: 'price_book',
    ...viewVersion(current),
    newest_version: newestVersion,
    planned: planned.map(viewVersion),
    accounts,
  };
}

function viewVersion(version: PriceBookVersion): PriceBookVersionView {
  return {
    version: version.version,
    factor_permille: version.factorPermille,
    models: version.models,
    valid_from: toEpochSeconds(version.validFrom),
  };
}
