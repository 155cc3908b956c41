import { Global, Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BillingModule } from '../billing/ledger/billing.module.js';
import { BodyGate } from '../common/http/bodies/body-gate.js';
import { AccountBodyGate } from './account-body-gate.js';
import { ModelGuard } from './model.guard.js';
import { ParallelCalls } from './parallel-calls.js';
import { NoIdempotencyKeyGuard } from './no-idempotency-key.guard.js';
import { ProviderConnections } from './provider-connections.js';

/**
 * Decides whether a request may run at all: key, rate limit, body, model. It is global, because every body needs its
 * gate.
 */
@Global()
@Module({
  imports: [AuthModule, BillingModule],
  providers: [
    ModelGuard,
    NoIdempotencyKeyGuard,
    ParallelCalls,
    ProviderConnections,
    { provide: BodyGate, useClass: AccountBodyGate },
  ],
  exports: [
    AuthModule,
    ModelGuard,
    NoIdempotencyKeyGuard,
    ParallelCalls,
    ProviderConnections,
    BodyGate,
  ],
})
export class AdmissionModule {}
