import { type DynamicModule, Global, Module } from '@nestjs/common';
import { SecretBox } from '../../common/secrets/secret-box.js';
import { Clock, SystemClock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway-config.js';

/** Gives every module the configuration, the clock, and the box that encrypts secrets at rest. */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(config: GatewayConfig): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: GATEWAY_CONFIG, useValue: config },
        SystemClock,
        { provide: Clock, useExisting: SystemClock },
        { provide: SecretBox, useFactory: () => new SecretBox(config.secretKeys ?? []) },
      ],
      exports: [GATEWAY_CONFIG, Clock, SystemClock, SecretBox],
    };
  }
}
