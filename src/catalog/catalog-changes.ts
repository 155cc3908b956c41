import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { cursorOf, type Page, type PageRequest } from '../common/paging/page.js';
import { HIGHEST_POSITION, pageOfScan } from '../platform/database/keyset-pagination.js';
import type { PriceView } from './price.view.js';

/** Each change with the price before it. */
const CHANGES = `(
  SELECT c.id, c.model, c.price, c.file, c.changed_at, before.price AS former_price
    FROM catalog_change c LEFT JOIN LATERAL (
      SELECT b.price FROM catalog_change b WHERE b.model = c.model AND b.id < c.id ORDER BY b.id DESC LIMIT 1) before ON true
  ) changes`;

/** A price of a model from a time on; null: no longer sold. */
export interface CatalogChange {
  /** Ids grow with time. */
  readonly id: string;
  readonly model: string;
  readonly price: PriceView | null;
  /** Null: the model was not sold before. */
  readonly formerPrice: PriceView | null;
  /** The file from which the row of the model comes; null: a built-in row. */
  readonly file: string | null;
  readonly changedAt: Date;
}

interface ChangeRow {
  readonly id: string;
  readonly model: string;
  readonly price: PriceView | null;
  readonly former_price: PriceView | null;
  readonly file: string | null;
  readonly changed_at: Date;
}

/** Reads which price was what, and from when on. */
@Injectable()
export class CatalogChanges {
  constructor(private readonly dataSource: DataSource) {}

  /** Changes of one model or of all, newest first. Throws 400 `invalid_request` for an invalid cursor. */
  async list({
    model,
    ...page
  }: PageRequest & { model?: string | undefined }): Promise<Page<CatalogChange>> {
    const scan = {
      table: CHANGES,
      filter: { model },
      comparisons: [['model', 'model =']] as const,
      lead: [],
      by: 'id' as const,
      newest: cursorOf(page, 'position') ?? HIGHEST_POSITION,
      oldest: '0',
    };
    return pageOfScan(this.dataSource, scan, page.limit, changeOf);
  }
}

function changeOf(row: ChangeRow): CatalogChange {
  const { id, model, price, former_price: formerPrice, file, changed_at: changedAt } = row;
  return { id, model, price, formerPrice, file, changedAt };
}
