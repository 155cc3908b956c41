import { Module } from '@nestjs/common';
import { AdmissionModule } from '../admission/admission.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { ExecutionLedger } from './execution-ledger.js';
import { GatewayProcess } from './gateway-process.js';
import { HOLD_SWEEPER_OPTIONS, HoldSweeper, type HoldSweeperOptions } from './hold-sweeper.js';
import { PaidCalls } from './paid-calls.js';
import { PayOnSuccess } from './pay-on-success.js';
import { UpstreamWatch } from './upstream-watch.js';

/** Synchronous paid calls: hold, provider, settlement or release, record. */
@Module({
  imports: [AdmissionModule, BillingModule],
  providers: [
    ExecutionLedger,
    HoldSweeper,
    PayOnSuccess,
    PaidCalls,
    UpstreamWatch,
    GatewayProcess,
    {
      provide: HOLD_SWEEPER_OPTIONS,
      useFactory: (config: GatewayConfig): HoldSweeperOptions => ({
        intervalMs: config.holdSweepMs,
      }),
      inject: [GATEWAY_CONFIG],
    },
  ],
  exports: [AdmissionModule, ExecutionLedger, PayOnSuccess, PaidCalls],
})
export class ExecutionsModule {}
