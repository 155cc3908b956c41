import { Module } from '@nestjs/common';
import { AdmissionModule } from '../admission/admission.module.js';
import { MediaModule } from '../media/media.module.js';
import { RecoveryModule } from '../billing/recovery/recovery.module.js';
import { StorageModule } from '../platform/storage/storage.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { DownloadStep } from './worker/download-step.js';
import { JobsAtProvider } from './worker/jobs-at-provider.js';
import { JobFiles } from './worker/job-files.js';
import { TaskCollection } from './collection/task-collection.js';
import { TaskContents } from './reads/task-contents.js';
import { CompletionListeners, TaskCompletion } from './completion/task-completion.js';
import { IdempotencyClaims } from './submission/idempotency-claims.js';
import { IdempotencyKeyGuard } from '../admission/idempotency-key.guard.js';
import { CancelRequests } from './completion/cancel-requests.js';
import { CancelledSubmissions } from './completion/cancelled-submissions.js';
import { AcceptedJobs } from './worker/accepted-jobs.js';
import { AnswerFiles } from './deferred/answer-files.js';
import { DeferredParts } from './deferred/deferred-call.kind.js';
import { DeferredCalls } from './deferred/deferred-calls.js';
import { DeferrableModelGuard, ReplayedCallInterceptor } from './deferred/deferred-replay.js';
import { FormerProcesses } from './submission/former-processes.js';
import { SourceStore } from './submission/source-store.js';
import { PollStep } from './worker/poll-step.js';
import { StepReporter } from './worker/step-reporter.js';
import { LostSubmission } from './worker/lost-submission.js';
import { SubmitStep } from './worker/submit-step.js';
import { TaskModelGuard } from './submission/task-model.guard.js';
import { TaskResponseInterceptor } from './submission/task-response.interceptor.js';
import { TaskCancellation } from './completion/task-cancellation.js';
import { TaskDeliveries } from './reads/task-deliveries.js';
import { ContentLinks } from './content-links/content-links.js';
import { ContentReaderGuard } from './content-links/content-reader.guard.js';
import { LinkOwners } from './content-links/link-owners.js';
import { TaskContentController } from './task-content.controller.js';
import { TaskDeliveriesController } from './task-deliveries.controller.js';
import { SubmitStatement } from './submission/submit-statement.js';
import { TaskInputs } from './submission/task-inputs.js';
import { TaskInsertion } from './submission/task-insertion.js';
import { TaskKinds } from './task-kinds.js';
import { TaskMetrics } from './task-metrics.js';
import { TaskRepository } from './reads/task.repository.js';
import { TaskEvents } from './reads/task-events.js';
import { SealedContent } from './reads/sealed-content.js';
import { TasksService } from './reads/tasks.service.js';
import { ReportBatcher } from './worker/report-batcher.js';
import { TaskResolution } from './completion/task-resolution.js';
import { TaskWorkRepository } from './worker/task-work.repository.js';
import { TaskSteps } from './worker/task-steps.js';
import { TaskSubmission } from './submission/task-submission.js';
import { TaskUpstreams } from './worker/task-upstreams.js';
import { LongPoll } from './reads/long-poll.js';
import { TaskWorker } from './worker/task-worker.js';
import { TasksController } from './tasks.controller.js';
import { UnknownStates } from './worker/unknown-states.js';
import { LateResultStep } from './worker/late-result-step.js';
import { UnknownOutcome } from './worker/unknown-outcome.js';

/** Asynchronous paid calls. Features register their task kinds. */
@Module({
  imports: [AdmissionModule, MediaModule, RecoveryModule, StorageModule, WebhooksModule],
  controllers: [TasksController, TaskContentController, TaskDeliveriesController],
  providers: [
    IdempotencyClaims,
    IdempotencyKeyGuard,
    TaskModelGuard,
    TaskResponseInterceptor,
    TaskKinds,
    TaskRepository,
    TasksService,
    TaskEvents,
    TaskContents,
    ContentLinks,
    ContentReaderGuard,
    LinkOwners,
    TaskDeliveries,
    TaskInputs,
    SubmitStatement,
    TaskInsertion,
    TaskSubmission,
    TaskWorkRepository,
    ReportBatcher,
    TaskCompletion,
    CompletionListeners,
    TaskMetrics,
    LongPoll,
    TaskUpstreams,
    StepReporter,
    AcceptedJobs,
    LostSubmission,
    SubmitStep,
    UnknownStates,
    PollStep,
    JobsAtProvider,
    JobFiles,
    DownloadStep,
    UnknownOutcome,
    LateResultStep,
    TaskSteps,
    TaskWorker,
    TaskCancellation,
    CancelRequests,
    TaskResolution,
    TaskCollection,
    CancelledSubmissions,
    FormerProcesses,
    SourceStore,
    AnswerFiles,
    SealedContent,
    DeferredParts,
    DeferredCalls,
    DeferrableModelGuard,
    ReplayedCallInterceptor,
  ],
  exports: [
    AdmissionModule,
    ContentLinks,
    ContentReaderGuard,
    LinkOwners,
    TaskContents,
    IdempotencyClaims,
    IdempotencyKeyGuard,
    TaskModelGuard,
    TaskResponseInterceptor,
    TaskInputs,
    TaskKinds,
    TaskRepository,
    TasksService,
    TaskResolution,
    TaskCollection,
    TaskCancellation,
    CancelRequests,
    LongPoll,
    TaskSubmission,
    FormerProcesses,
    SourceStore,
    DeferredCalls,
    DeferrableModelGuard,
    ReplayedCallInterceptor,
    WebhooksModule,
  ],
})
export class TasksModule {}
