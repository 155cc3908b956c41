import { Injectable } from '@nestjs/common';
import { Catalog } from '../catalog/catalog.js';
import { RowFaults } from '../catalog/overlay-terms.js';
import { type BookedModel, priceInBook } from '../catalog/price-books/price-book.js';
import {
  type PriceBook,
  PriceBookStore,
  type PriceBookTerms,
} from '../catalog/price-books/price-book-store.js';
import { GatewayError, invalidField } from '../common/errors/gateway-error.js';
import { type Page, pageOf } from '../common/paging/page.js';
import { Clock } from '../common/time/clock.js';
import type { PageQuery } from '../common/paging/page.query.js';
import type {
  CreatePriceBookBody,
  PriceBookTermsBody,
  ReplacePriceBookBody,
  WhatIfBody,
} from './dto/price-book.bodies.js';
import { PriceWhatIf, type WouldPay } from './price-what-if.js';

/** Price books as operators keep them, for both the API and the command line. */
@Injectable()
export class OperatorPriceBooks {
  constructor(
    private readonly store: PriceBookStore,
    private readonly catalog: Catalog,
    private readonly past: PriceWhatIf,
    private readonly clock: Clock,
  ) {}

  /** Throws 400 for a model that is not sold or a price that does not fit it, and what `PriceBookStore.create` throws. */
  create(body: CreatePriceBookBody): Promise<PriceBook> {
    return this.store.create(body.id, this.termsOf(body));
  }

  /** Throws as {@link create}, and what `PriceBookStore.replace` throws. */
  replace(id: string, body: ReplacePriceBookBody): Promise<PriceBook> {
    if (body.id !== undefined && body.id !== id) {
      throw new GatewayError('invalid_request', `id must be that of the path, ${id}.`, {
        param: 'id',
      });
    }
    return this.store.replace(id, this.termsOf(body), body.replaces_version);
  }

  delete(id: string): Promise<void> {
    return this.store.delete(id);
  }

  get(id: string): Promise<PriceBook> {
    return this.store.get(id);
  }

  /** Books by id. The cursor is the id of the last one. */
  async list({ cursor, limit }: PageQuery): Promise<Page<PriceBook>> {
    const books = await this.store.list(cursor ?? null, limit + 1);
    return pageOf(
      books,
      limit,
      (book) => book,
      ({ id }) => id,
    );
  }

  /**
   * What every account with charges in a time would have paid by the book as it is in force or, before its first version
   * begins, by that one; the last whole month of UTC where no time is named. Throws 404, and 400 for a time that ends
   * before it begins.
   */
  async whatIf(id: string, { from, to }: WhatIfBody): Promise<WouldPay[]> {
    const { current } = await this.store.get(id);
    const now = new Date(this.clock.nowMs());
    const monthOf = (offset: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset);
    const begin = from === undefined ? monthOf(-1) : from * 1_000;
    const end = to === undefined ? monthOf(0) : to * 1_000;
    if (end <= begin) throw invalidField('to', 'must be later than from');
    return this.past.of(current, new Date(begin), new Date(end));
  }

  private termsOf({ factor_permille, models = [], valid_from }: PriceBookTermsBody) {
    const seen = new Set<string>();
    for (const [index, model] of models.entries()) {
      this.check(model, `models.${index}`, seen);
      seen.add(model.id);
    }
    return {
      factorPermille: factor_permille,
      models,
      validFrom: valid_from === undefined ? undefined : new Date(valid_from * 1_000),
    } satisfies PriceBookTerms;
  }

  private check(model: BookedModel, at: string, seen: ReadonlySet<string>): void {
    const row = this.catalog.find(model.id);
    if (row?.id !== model.id) throw invalidField(`${at}.id`, 'is no model of the catalog');
    if (seen.has(model.id)) throw invalidField(`${at}.id`, 'is there twice');
    try {
      priceInBook(row, model);
    } catch (error) {
      if (!(error instanceof RowFaults)) throw error;
      throw invalidField(`${at}.price`, `does not fit the model: ${error.message}`);
    }
  }
}
