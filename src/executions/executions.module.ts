import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { Metrics } from '../observability/metrics.js';
import { BATCH_OBSERVER, type BatchObserver, ExecutionLedger } from './execution-ledger.js';
import { HOLD_SWEEPER_OPTIONS, HoldSweeper, type HoldSweeperOptions } from './hold-sweeper.js';
import { ModelGuard } from './model.guard.js';
import { NoIdempotencyKeyGuard } from './no-idempotency-key.guard.js';
import { PayOnSuccess } from './pay-on-success.js';
import { UpstreamWatch } from './upstream-watch.js';

/** Synchronous paid calls: admission, hold, record, settlement. */
@Module({
  imports: [AuthModule, BillingModule],
  providers: [
    ExecutionLedger,
    HoldSweeper,
    PayOnSuccess,
    UpstreamWatch,
    ModelGuard,
    NoIdempotencyKeyGuard,
    {
      provide: HOLD_SWEEPER_OPTIONS,
      useFactory: (config: GatewayConfig): HoldSweeperOptions => ({
        intervalMs: config.holdSweepMs,
      }),
      inject: [GATEWAY_CONFIG],
    },
    {
      provide: BATCH_OBSERVER,
      useFactory:
        (metrics: Metrics): BatchObserver =>
        (size) => {
          metrics.batchSize.observe(size);
        },
      inject: [Metrics],
    },
  ],
  exports: [AuthModule, ExecutionLedger, PayOnSuccess, ModelGuard, NoIdempotencyKeyGuard],
})
export class ExecutionsModule {}
