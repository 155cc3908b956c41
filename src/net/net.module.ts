import { type DynamicModule, Global, Module } from '@nestjs/common';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { BoundedDownload } from './bounded-download.js';
import { EgressRules } from './egress-rules.js';
import { GuardedDialer } from './guarded-dialer.js';
import { portOf } from './public-url.js';

/** The guarded way to URLs that callers or providers chose: {@link EgressRules}, {@link GuardedDialer}, {@link BoundedDownload}. */
@Global()
@Module({})
export class NetModule {
  /** `sandboxUrl`: base of the sandbox upstream, whose media lie on loopback and are open without `EGRESS_ALLOW`. */
  static forRoot(sandboxUrl: string | undefined): DynamicModule {
    return {
      module: NetModule,
      providers: [
        {
          provide: EgressRules,
          useFactory: (config: GatewayConfig) => rulesOf(config, sandboxUrl),
          inject: [GATEWAY_CONFIG],
        },
        {
          provide: GuardedDialer,
          useFactory: (rules: EgressRules) => new GuardedDialer({ rules }),
          inject: [EgressRules],
        },
        {
          provide: BoundedDownload,
          useFactory: (dialer: GuardedDialer, rules: EgressRules) =>
            new BoundedDownload(dialer, { rules }),
          inject: [GuardedDialer, EgressRules],
        },
      ],
      exports: [EgressRules, GuardedDialer, BoundedDownload],
    };
  }
}

function rulesOf(config: GatewayConfig, sandboxUrl: string | undefined): EgressRules {
  const rules = EgressRules.parse(config.egressAllow.join(','));
  if (sandboxUrl === undefined) return rules;
  const url = new URL(sandboxUrl);
  return rules.and(EgressRules.parse(`${url.hostname}:${portOf(url)}`));
}
