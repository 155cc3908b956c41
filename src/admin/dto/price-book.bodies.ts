import { OverlayPrice } from '../../catalog/overlay-price.dto.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { Int, ModelId, Nested, Pattern } from '../../common/validation/fields.js';

const MAX_FACTOR_PERMILLE = 10_000;
const MAX_MODELS = 1_000;
/** The largest integer of the column. */
const MAX_VERSION = 2_147_483_647;
const optional = { optional: true } as const;
const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const ID_SAYS = 'must be 1 to 64 lowercase letters, digits, hyphens and underscores';

/** The price of one model in a book. */
export class PriceBookModelBody {
  @ModelId()
  id!: string;

  @Nested(() => OverlayPrice, { description: 'As in the file of the catalog' })
  price!: OverlayPrice;
}

/** What a price book says. */
export class PriceBookTermsBody {
  @Int({
    min: 1,
    max: MAX_FACTOR_PERMILLE,
    default: 1_000,
    description:
      'Thousandths of the listed price that the accounts pay, for models that are not in `models`',
    example: 900,
  })
  factor_permille!: number;

  @Nested(() => PriceBookModelBody, {
    ...optional,
    list: { min: 0, max: MAX_MODELS },
    description: 'Prices of their own, which the factor does not touch',
  })
  models?: PriceBookModelBody[];

  @Int({
    min: 0,
    max: MAX_EPOCH_SECONDS,
    ...optional,
    description: 'Epoch seconds from which on it holds. Absent or past: from now on',
  })
  valid_from?: number;
}

/** Body of PUT /admin/price-books/{id}. It replaces what the book says. */
export class ReplacePriceBookBody extends PriceBookTermsBody {
  @Pattern(ID, ID_SAYS, { ...optional, description: 'That of the path', example: 'partners' })
  id?: string;

  @Int({
    min: 1,
    max: MAX_VERSION,
    ...optional,
    description:
      'The `newest_version` that you have read: 409 `conflict` where somebody has written another one since. Absent: it is not compared',
  })
  replaces_version?: number;
}

/** Body of POST /admin/price-books. */
export class CreatePriceBookBody extends PriceBookTermsBody {
  @Pattern(ID, ID_SAYS, { description: 'A name of your own for the book', example: 'partners' })
  id!: string;
}

/** Body of POST /admin/price-books/{id}/what-if. */
export class WhatIfBody {
  @Int({
    min: 0,
    max: MAX_EPOCH_SECONDS,
    ...optional,
    description: 'Epoch seconds, inclusive. Absent: the beginning of the last whole month of UTC',
  })
  from?: number;

  @Int({
    min: 0,
    max: MAX_EPOCH_SECONDS,
    ...optional,
    description: 'Epoch seconds, exclusive. Absent: the end of the last whole month of UTC',
  })
  to?: number;
}
