import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Clock, SystemClock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway-config.js';

/** Gives every module the configuration and the clock. */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(config: GatewayConfig): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: GATEWAY_CONFIG, useValue: config },
        { provide: Clock, useClass: SystemClock },
      ],
      exports: [GATEWAY_CONFIG, Clock],
    };
  }
}
