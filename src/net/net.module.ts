import { type DynamicModule, Global, Module } from '@nestjs/common';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { BoundedDownload } from './bounded-download.js';
import { EgressRules } from './egress-rules.js';
import { GuardedDialer } from './guarded-dialer.js';
import { SandboxMedia } from './sandbox-media.js';

/** The guarded way to URLs that callers or providers chose: {@link EgressRules}, {@link GuardedDialer}, {@link BoundedDownload}; and the {@link SandboxMedia}. */
@Global()
@Module({})
export class NetModule {
  /** `sandboxMediaUrl`: where the sandbox upstream has its media, where one runs. */
  static forRoot(sandboxMediaUrl: string | undefined): DynamicModule {
    return {
      module: NetModule,
      providers: [
        {
          provide: EgressRules,
          useFactory: ({ egressAllow }: GatewayConfig) => EgressRules.parse(egressAllow.join(',')),
          inject: [GATEWAY_CONFIG],
        },
        {
          provide: GuardedDialer,
          useFactory: (rules: EgressRules) => new GuardedDialer({ rules }),
          inject: [EgressRules],
        },
        { provide: SandboxMedia, useFactory: () => new SandboxMedia(sandboxMediaUrl) },
        {
          provide: BoundedDownload,
          useFactory: (dialer: GuardedDialer, rules: EgressRules, media: SandboxMedia) =>
            new BoundedDownload(dialer, { rules }, media),
          inject: [GuardedDialer, EgressRules, SandboxMedia],
        },
      ],
      exports: [EgressRules, GuardedDialer, BoundedDownload, SandboxMedia],
    };
  }
}
