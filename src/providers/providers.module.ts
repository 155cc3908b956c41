import { type DynamicModule, Global, Module } from '@nestjs/common';
import { PROVIDERS_OPTIONS, type ProvidersOptions } from './providers.options.js';
import { ProviderRegistry } from './routing/provider-registry.js';
import { ProviderRouter } from './routing/provider-router.js';

/**
 * Who does the work: exports {@link ProviderRouter} and {@link ProviderRegistry}. Takes the `Clock`
 * from a global module.
 */
@Global()
@Module({})
export class ProvidersModule {
  static forRoot(options: ProvidersOptions): DynamicModule {
    return {
      module: ProvidersModule,
      providers: [
        { provide: PROVIDERS_OPTIONS, useValue: options },
        ProviderRegistry,
        ProviderRouter,
      ],
      exports: [ProviderRegistry, ProviderRouter],
    };
  }
}
