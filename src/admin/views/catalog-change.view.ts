import { ApiProperty } from '@nestjs/swagger';
import type { CatalogChange } from '../../catalog/catalog-changes.js';
import { PriceView } from '../../catalog/price.view.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';

/** A price of a model, from a time on. */
export class CatalogChangeView {
  @ApiProperty({
    example: '42',
    description: 'Number of the change; later ones have greater numbers',
  })
  id!: string;

  @ApiProperty({ enum: ['catalog_change'], description: 'Says what kind of object this is' })
  object!: 'catalog_change';

  @ApiProperty({ example: 'gen-5', description: 'Id of the model' })
  model!: string;

  @ApiProperty({
    type: PriceView,
    nullable: true,
    description: 'The price from then on; null: no longer sold',
  })
  price!: PriceView | null;

  @ApiProperty({
    type: PriceView,
    nullable: true,
    description: 'The price before; null: not sold before, or not recorded yet',
  })
  former_price!: PriceView | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '/etc/shim/catalog.json',
    description: 'The file by which the model has the price; null: it is built in',
  })
  file!: string | null;

  @ApiProperty({ example: 1_795_663_540, description: 'Epoch seconds from which on it holds' })
  created_at!: number;
}

/** A page of changes. */
export class CatalogChangePage extends pageOfViews(CatalogChangeView) {}

/** The change as operators see it. */
export function viewCatalogChange(change: CatalogChange): CatalogChangeView {
  return {
    id: change.id,
    object: 'catalog_change',
    model: change.model,
    price: change.price,
    former_price: change.formerPrice,
    file: change.file,
    created_at: toEpochSeconds(change.changedAt),
  };
}
