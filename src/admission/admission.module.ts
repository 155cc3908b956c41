import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ModelGuard } from './model.guard.js';
import { NoIdempotencyKeyGuard } from './no-idempotency-key.guard.js';

/** Whether a request may run at all: key, rate limit, body, model. */
@Module({
  imports: [AuthModule],
  providers: [ModelGuard, NoIdempotencyKeyGuard],
  exports: [AuthModule, ModelGuard, NoIdempotencyKeyGuard],
})
export class AdmissionModule {}
