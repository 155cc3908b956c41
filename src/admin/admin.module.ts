import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { RecoveryModule } from '../billing/recovery/recovery.module.js';
import { BillingModule } from '../billing/ledger/billing.module.js';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';
import { StoredResponsesModule } from '../stored-responses/stored-responses.module.js';
import { SealedSecrets } from '../sealed/sealed-secrets.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { StatementsModule } from '../billing/statements/statements.module.js';
import { UsageModule } from '../billing/usage/usage.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AccountsController } from './accounts.controller.js';
import { AdminTasksController } from './admin-tasks.controller.js';
import { AdminTasksService } from './admin-tasks.service.js';
import { AdminGuard } from './admin.guard.js';
import { CatalogController } from './catalog.controller.js';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveriesService } from './deliveries.service.js';
import { FindController } from './find.controller.js';
import { HoldsController } from './holds.controller.js';
import { IdSearch } from './id-search.js';
import { KeysController } from './keys.controller.js';
import { LedgerController } from './ledger.controller.js';
import { OverviewController } from './overview.controller.js';
import { OverviewService } from './overview.service.js';
import { OperatorEndpoints } from './operator-endpoints.js';
import { OperatorPortalLinks } from './portal-links.js';
import { SessionsController } from './sessions.controller.js';
import { OperatorLedger } from './operator-ledger.js';
import { OperatorKeys } from './operator-keys.js';
import { OperatorTargets } from './operator-targets.js';
import { NEW_ACCOUNT_MONEY, type NewAccountMoney, OperatorService } from './operator.service.js';
import { PriceBookStore } from '../catalog/price-books/price-book-store.js';
import { OperatorPriceBooks } from './operator-price-books.js';
import { OperatorProviders } from './operator-providers.js';
import { PriceWhatIf } from './price-what-if.js';
import { MarginController } from './margin.controller.js';
import { PriceBooksController } from './price-books.controller.js';
import { ProvidersController } from './providers.controller.js';
import { RecordsController } from './records.controller.js';
import { UsageController } from './usage.controller.js';
import { AdminWebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookReceiversController } from './webhook-receivers.controller.js';

/** The operator API. */
@Module({
  imports: [
    AuthModule,
    BillingModule,
    RecoveryModule,
    ExecutionsModule,
    StoredResponsesModule,
    StatementsModule,
    TasksModule,
    UsageModule,
    WebhooksModule,
  ],
  controllers: [
    AccountsController,
    LedgerController,
    KeysController,
    RecordsController,
    WebhookReceiversController,
    DeliveriesController,
    AdminWebhookEndpointsController,
    AdminTasksController,
    UsageController,
    MarginController,
    CatalogController,
    ProvidersController,
    FindController,
    HoldsController,
    OverviewController,
    PriceBooksController,
    SessionsController,
  ],
  providers: [
    SealedSecrets,
    {
      provide: NEW_ACCOUNT_MONEY,
      inject: [ProviderRegistry],
      useFactory: (registry: ProviderRegistry): NewAccountMoney => {
        return () => (registry.isSandboxOnly ? 'play' : 'real');
      },
    },
    OperatorService,
    OperatorTargets,
    OperatorKeys,
    OperatorLedger,
    PriceBookStore,
    PriceWhatIf,
    OperatorPriceBooks,
    OperatorProviders,
    DeliveriesService,
    IdSearch,
    OverviewService,
    OperatorEndpoints,
    OperatorPortalLinks,
    AdminTasksService,
    AdminGuard,
  ],
  exports: [
    OperatorService,
    OperatorKeys,
    OperatorLedger,
    OperatorPriceBooks,
    OperatorProviders,
    AdminTasksService,
    DeliveriesService,
    IdSearch,
    OperatorEndpoints,
    OperatorPortalLinks,
    SealedSecrets,
  ],
})
export class AdminModule {}
