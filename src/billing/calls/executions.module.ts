import { Module } from '@nestjs/common';
import { AdmissionModule } from '../../admission/admission.module.js';
import { BillingModule } from '../ledger/billing.module.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { LedgerMetrics } from './ledger-metrics.js';
import { ExecutionLedger } from './execution-ledger.js';
import { ExecutionsService } from './executions.service.js';
import { HOLD_SWEEPER_OPTIONS, HoldSweeper, type HoldSweeperOptions } from './hold-sweeper.js';
import { OpenHolds } from './open-holds.js';
import { RecoveryModule } from '../recovery/recovery.module.js';
import { CALL_LIMITS, type CallLimits, PaidCalls } from './paid-calls.js';

/** Synchronous paid calls: hold, provider, settlement or release, record. */
@Module({
  imports: [AdmissionModule, BillingModule, RecoveryModule],
  providers: [
    LedgerMetrics,
    ExecutionLedger,
    ExecutionsService,
    HoldSweeper,
    OpenHolds,
    PaidCalls,
    {
      provide: HOLD_SWEEPER_OPTIONS,
      useFactory: (config: GatewayConfig): HoldSweeperOptions => ({
        intervalMs: config.holdSweepMs,
      }),
      inject: [GATEWAY_CONFIG],
    },
    {
      provide: CALL_LIMITS,
      useFactory: ({ callDeadlineMs }: GatewayConfig): CallLimits => ({ callDeadlineMs }),
      inject: [GATEWAY_CONFIG],
    },
  ],
  exports: [AdmissionModule, ExecutionsService, OpenHolds, PaidCalls],
})
export class ExecutionsModule {}
