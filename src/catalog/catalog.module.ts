import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';
import { Catalog } from './catalog.js';
import { CatalogChangeRecorder } from './catalog-change-recorder.js';
import { CatalogChanges } from './catalog-changes.js';
import type { ModelRow } from './model-row.js';
import { PriceBooks } from './price-books/price-books.js';

/** The models that the gateway sells, checked against the configured providers. */
@Global()
@Module({})
export class CatalogModule {
  static forRoot(rows: readonly ModelRow[]): DynamicModule {
    return {
      module: CatalogModule,
      providers: [
        {
          provide: Catalog,
          useFactory: (registry: ProviderRegistry) =>
            new Catalog(rows, (route, operation) => registry.canRun(route, operation)),
          inject: [ProviderRegistry],
        },
        PriceBooks,
        CatalogChanges,
        CatalogChangeRecorder,
      ],
      exports: [Catalog, PriceBooks, CatalogChanges],
    };
  }
}
