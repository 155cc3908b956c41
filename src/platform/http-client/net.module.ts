import { type DynamicModule, Global, Module } from '@nestjs/common';
import { BoundedDownload } from './bounded-download.js';
import { EgressRules } from './egress-rules.js';
import { SsrfSafeDialer } from './ssrf-safe-dialer.js';
import { UserSuppliedUrls } from './user-supplied-urls.js';
import type { SandboxFiles } from './sandbox-files.js';
import { GatewayUrl } from './gateway-url.js';

/**
 * Everything for URLs that callers or providers chose: {@link EgressRules}, {@link SsrfSafeDialer}, {@link
 * BoundedDownload}, {@link UserSuppliedUrls}; and the {@link GatewayUrl}.
 */
@Global()
@Module({})
export class NetModule {
  /**
   * `egressAllow`: the private hosts that are permitted. `sandboxFiles`: files that the gateway itself serves below
   * `gatewayUrl`.
   */
  static forRoot(
    egressAllow: readonly string[],
    sandboxFiles: SandboxFiles,
    gatewayUrl: GatewayUrl,
  ): DynamicModule {
    const rules = EgressRules.parse(egressAllow.join(','));
    const dialer = new SsrfSafeDialer({ rules });
    return {
      module: NetModule,
      providers: [
        { provide: EgressRules, useValue: rules },
        { provide: SsrfSafeDialer, useValue: dialer },
        {
          provide: BoundedDownload,
          useValue: new BoundedDownload(dialer, { rules }, sandboxFiles),
        },
        {
          provide: UserSuppliedUrls,
          useValue: new UserSuppliedUrls(dialer, { rules }, sandboxFiles),
        },
        { provide: GatewayUrl, useValue: gatewayUrl },
      ],
      exports: [EgressRules, SsrfSafeDialer, BoundedDownload, UserSuppliedUrls, GatewayUrl],
    };
  }
}
