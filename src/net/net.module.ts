import { type DynamicModule, Global, Module } from '@nestjs/common';
import { BoundedDownload } from './bounded-download.js';
import { EgressRules } from './egress-rules.js';
import { GuardedDialer } from './guarded-dialer.js';
import { NamedUrls } from './named-urls.js';
import type { OwnFiles } from './own-files.js';
import { OwnUrl } from './own-url.js';

/**
 * Everything for URLs that callers or providers chose: {@link EgressRules}, {@link GuardedDialer}, {@link
 * BoundedDownload}, {@link NamedUrls}; and the {@link OwnUrl}.
 */
@Global()
@Module({})
export class NetModule {
  /**
   * `egressAllow`: the private hosts that are permitted. `ownFiles`: files that the gateway itself serves below
   * `ownUrl`.
   */
  static forRoot(
    egressAllow: readonly string[],
    ownFiles: OwnFiles,
    ownUrl: OwnUrl,
  ): DynamicModule {
    const rules = EgressRules.parse(egressAllow.join(','));
    const dialer = new GuardedDialer({ rules });
    return {
      module: NetModule,
      providers: [
        { provide: EgressRules, useValue: rules },
        { provide: GuardedDialer, useValue: dialer },
        { provide: BoundedDownload, useValue: new BoundedDownload(dialer, { rules }, ownFiles) },
        { provide: NamedUrls, useValue: new NamedUrls(dialer, { rules }, ownFiles) },
        { provide: OwnUrl, useValue: ownUrl },
      ],
      exports: [EgressRules, GuardedDialer, BoundedDownload, NamedUrls, OwnUrl],
    };
  }
}
