import { type DynamicModule, Global, Module } from '@nestjs/common';
import { BoundedDownload } from './bounded-download.js';
import { EgressRules } from './egress-rules.js';
import { GuardedDialer } from './guarded-dialer.js';
import type { OwnFiles } from './own-files.js';

/** The guarded way to URLs that callers or providers chose: {@link EgressRules}, {@link GuardedDialer}, {@link BoundedDownload}. */
@Global()
@Module({})
export class NetModule {
  /** `egressAllow`: the private places that are open; `ownFiles`: what the gateway serves itself. */
  static forRoot(egressAllow: readonly string[], ownFiles: OwnFiles): DynamicModule {
    const rules = EgressRules.parse(egressAllow.join(','));
    const dialer = new GuardedDialer({ rules });
    return {
      module: NetModule,
      providers: [
        { provide: EgressRules, useValue: rules },
        { provide: GuardedDialer, useValue: dialer },
        { provide: BoundedDownload, useValue: new BoundedDownload(dialer, { rules }, ownFiles) },
      ],
      exports: [EgressRules, GuardedDialer, BoundedDownload],
    };
  }
}
