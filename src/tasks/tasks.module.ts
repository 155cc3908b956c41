import { Module } from '@nestjs/common';
import { AdmissionModule } from '../admission/admission.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { CollectStep } from './collect-step.js';
import { TaskContents } from './task-content.js';
import { EndListeners } from './end-listeners.js';
import { IdempotencyClaims } from './idempotency-claims.js';
import { IdempotencyKeyGuard } from './idempotency-key.guard.js';
import { PollStep } from './poll-step.js';
import { StepReporter } from './step-reporter.js';
import { SubmitStep } from './submit-step.js';
import { TaskAnswerInterceptor } from './task-answer.interceptor.js';
import { TaskCancellation } from './task-cancellation.js';
import { TaskDeliveries } from './task-deliveries.js';
import { TaskDeliveriesController } from './task-deliveries.controller.js';
import { TaskEnding } from './task-ending.js';
import { TaskInputs } from './task-inputs.js';
import { TaskInsertion } from './task-insertion.js';
import { TaskKinds } from './task-kinds.js';
import { TaskMetrics } from './task-metrics.js';
import { TaskReader } from './task-reader.js';
import { TaskReads } from './task-reads.js';
import { TaskReports } from './task-reports.js';
import { TaskResolution } from './task-resolution.js';
import { TaskStatements } from './task-statements.js';
import { TaskSteps } from './task-steps.js';
import { TaskSubmission } from './task-submission.js';
import { TaskUpstreams } from './task-upstreams.js';
import { TaskWaits } from './task-waits.js';
import { TaskWorker } from './task-worker.js';
import { TasksController } from './tasks.controller.js';
import { WatchStep } from './watch-step.js';

/** Asynchronous paid calls; features register the kinds of task they sell. */
@Module({
  imports: [AdmissionModule, StorageModule, WebhooksModule],
  controllers: [TasksController, TaskDeliveriesController],
  providers: [
    IdempotencyClaims,
    IdempotencyKeyGuard,
    TaskAnswerInterceptor,
    TaskKinds,
    TaskReader,
    TaskReads,
    TaskContents,
    TaskDeliveries,
    TaskInputs,
    TaskInsertion,
    TaskSubmission,
    TaskStatements,
    TaskReports,
    TaskEnding,
    EndListeners,
    TaskMetrics,
    TaskWaits,
    TaskUpstreams,
    StepReporter,
    SubmitStep,
    PollStep,
    CollectStep,
    WatchStep,
    TaskSteps,
    TaskWorker,
    TaskCancellation,
    TaskResolution,
  ],
  exports: [
    AdmissionModule,
    IdempotencyKeyGuard,
    TaskAnswerInterceptor,
    TaskKinds,
    TaskReader,
    TaskReads,
    TaskResolution,
    TaskSubmission,
    WebhooksModule,
  ],
})
export class TasksModule {}
