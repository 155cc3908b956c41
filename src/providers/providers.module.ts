import { type DynamicModule, Global, Module } from '@nestjs/common';
import { PROVIDERS_OPTIONS, type ProvidersOptions } from './providers.options.js';
import { AttemptMetrics } from './routing/attempt-metrics.js';
import { ProviderRegistry } from './routing/provider-registry.js';
import { ProviderRouter } from './routing/provider-router.js';

/**
 * The providers that do the work. Exports {@link ProviderRouter} and {@link ProviderRegistry}. Takes the `Clock` and
 * the metrics from global modules.
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
        AttemptMetrics,
        ProviderRouter,
      ],
      exports: [ProviderRegistry, ProviderRouter],
    };
  }
}
