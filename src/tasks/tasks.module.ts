import { Module } from '@nestjs/common';
import { AdmissionModule } from '../admission/admission.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { IdempotencyKeyGuard } from './idempotency-key.guard.js';
import { TaskAnswerInterceptor } from './task-answer.interceptor.js';
import { TaskKinds } from './task-kinds.js';
import { TaskReader } from './task-reader.js';
import { TaskSubmission } from './task-submission.js';

/** Asynchronous paid calls; features register the kinds of task they sell. */
@Module({
  imports: [AdmissionModule, BillingModule, WebhooksModule],
  providers: [IdempotencyKeyGuard, TaskAnswerInterceptor, TaskKinds, TaskReader, TaskSubmission],
  exports: [
    AdmissionModule,
    IdempotencyKeyGuard,
    TaskAnswerInterceptor,
    TaskKinds,
    TaskReader,
    TaskSubmission,
  ],
})
export class TasksModule {}
