import { Module } from '@nestjs/common';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { GatewayProcess, LEASE_OPTIONS, leaseFor, type LeaseOptions } from './gateway-process.js';
import { LostWork } from './lost-work.js';
import { OWED_DIRECTORY, OwedCancellations } from './owed-cancellations.js';
import { ProcessHealth } from './process-health.js';

/** The lease of this process, which shows that it runs, and what it owes to callers. */
@Module({
  providers: [
    GatewayProcess,
    LostWork,
    OwedCancellations,
    ProcessHealth,
    {
      provide: LEASE_OPTIONS,
      useFactory: (config: GatewayConfig): LeaseOptions => leaseFor(config.holdSweepMs),
      inject: [GATEWAY_CONFIG],
    },
    {
      provide: OWED_DIRECTORY,
      useFactory: (config: GatewayConfig): string => config.dataDir,
      inject: [GATEWAY_CONFIG],
    },
  ],
  exports: [GatewayProcess, OwedCancellations],
})
export class LeasesModule {}
