import { Module } from '@nestjs/common';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { ProcessLease, LEASE_OPTIONS, leaseFor, type LeaseOptions } from './process-lease.js';
import { LostWork } from './lost-work.js';
import { REVERSAL_DIRECTORY, Reversals } from './reversals.js';
import { ProcessHealth } from './process-health.js';

/** The lease of this process, the detection of lost work, and reversals that are still to be made. */
@Module({
  providers: [
    ProcessLease,
    LostWork,
    Reversals,
    ProcessHealth,
    {
      provide: LEASE_OPTIONS,
      useFactory: (config: GatewayConfig): LeaseOptions => leaseFor(config.holdSweepMs),
      inject: [GATEWAY_CONFIG],
    },
    {
      provide: REVERSAL_DIRECTORY,
      useFactory: (config: GatewayConfig): string => config.dataDir,
      inject: [GATEWAY_CONFIG],
    },
  ],
  exports: [ProcessLease, Reversals],
})
export class RecoveryModule {}
