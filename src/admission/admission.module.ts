import { Global, Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BillingModule } from '../billing/ledger/billing.module.js';
import { MediaModule } from '../media/media.module.js';
import { StorageModule } from '../platform/storage/storage.module.js';
import { BodyQuota } from '../platform/http-server/request-body/body-quota.js';
import { AccountBodyQuota } from './account-body-quota.js';
import { CallKeys } from './kept/call-keys.js';
import { CallModelGuard } from './kept/call-model.guard.js';
import { KeptAnswers } from './kept/kept-answers.js';
import { KeptFiles } from './kept/kept-files.js';
import { ModelGuard } from './model.guard.js';
import { CallConcurrencyLimit } from './call-concurrency-limit.js';
import { RunGuard } from './run.guard.js';
import { NoIdempotencyKeyGuard } from './no-idempotency-key.guard.js';
import { ProviderConnectionLimit } from './provider-connection-limit.js';
import { BoundQuotes } from './quotes/bound-quotes.js';
import { QuotableCalls } from './quotes/quotable-calls.js';
import { UnroutedRequests } from './unrouted-requests.js';

/**
 * Decides whether a request may run at all: key, rate limit, body, model. It is global, because every request body is
 * checked against its quota.
 */
@Global()
@Module({
  imports: [AuthModule, BillingModule, MediaModule, StorageModule],
  providers: [
    ModelGuard,
    CallModelGuard,
    CallKeys,
    KeptAnswers,
    KeptFiles,
    NoIdempotencyKeyGuard,
    RunGuard,
    CallConcurrencyLimit,
    ProviderConnectionLimit,
    BoundQuotes,
    QuotableCalls,
    UnroutedRequests,
    { provide: BodyQuota, useClass: AccountBodyQuota },
  ],
  exports: [
    AuthModule,
    ModelGuard,
    CallModelGuard,
    CallKeys,
    KeptAnswers,
    KeptFiles,
    NoIdempotencyKeyGuard,
    RunGuard,
    CallConcurrencyLimit,
    ProviderConnectionLimit,
    BoundQuotes,
    QuotableCalls,
    UnroutedRequests,
    BodyQuota,
  ],
})
export class AdmissionModule {}
