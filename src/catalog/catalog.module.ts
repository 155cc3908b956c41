import { type DynamicModule, Global, Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';
import { Catalog } from './catalog.js';
import type { ModelRow } from './model-row.js';
import { ModelsController } from './models.controller.js';
import { ModelsService } from './models.service.js';

/** What the gateway sells, checked against the providers it can call. */
@Global()
@Module({})
export class CatalogModule {
  static forRoot(rows: readonly ModelRow[]): DynamicModule {
    return {
      module: CatalogModule,
      imports: [AuthModule],
      controllers: [ModelsController],
      providers: [
        ModelsService,
        {
          provide: Catalog,
          useFactory: (registry: ProviderRegistry) =>
            new Catalog(rows, (route, operation) => registry.canRun(route, operation)),
          inject: [ProviderRegistry],
        },
      ],
      exports: [Catalog],
    };
  }
}
