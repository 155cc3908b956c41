import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { DeliveriesService } from '../admin/deliveries.service.js';
import { IdSearch } from '../admin/id-search.js';
import { OperatorEndpoints } from '../admin/operator-endpoints.js';
import { OperatorPortalLinks } from '../admin/portal-links.js';
import { OperatorLedger } from '../admin/operator-ledger.js';
import { OperatorKeys } from '../admin/operator-keys.js';
import { PriceWhatIf } from '../admin/price-what-if.js';
import { OperatorProviders } from '../admin/operator-providers.js';
import { OperatorPriceBooks } from '../admin/operator-price-books.js';
import {
  NEW_ACCOUNT_MONEY,
  type NewAccountMoney,
  OperatorService,
} from '../admin/operator.service.js';
import { AuthModule } from '../auth/auth.module.js';
import { BillingModule } from '../billing/ledger/billing.module.js';
import { Catalog } from '../catalog/catalog.js';
import { CatalogChanges } from '../catalog/catalog-changes.js';
import { loadCatalog } from '../catalog/catalog-file.js';
import { withSandboxModels } from '../catalog/models/sandbox.models.js';
import { PriceBookStore } from '../catalog/price-books/price-book-store.js';
import { ConfigModule } from '../platform/config/config.module.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { sandboxedProviders, sandboxScope } from '../providers/sandboxed.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { ExecutionsService } from '../billing/calls/executions.service.js';
import { OpenHolds } from '../billing/calls/open-holds.js';
import { RecoveryModule } from '../billing/recovery/recovery.module.js';
import { ObservabilityModule } from '../platform/observability/observability.module.js';
import { ResponseStore } from '../stored-responses/response-store.js';
import { StoredContent } from '../stored-responses/stored-content.js';
import { SealedSecrets } from '../sealed/sealed-secrets.js';
import { TaskInputs } from '../tasks/submission/task-inputs.js';
import { SchedulerModule } from '../platform/scheduler/scheduler.module.js';
import { StatementsModule } from '../billing/statements/statements.module.js';
import { UsageModule } from '../billing/usage/usage.module.js';
import { EgressRules } from '../platform/http-client/egress-rules.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import { SsrfSafeDialer } from '../platform/http-client/ssrf-safe-dialer.js';
import { WebhookEndpoints } from '../webhooks/endpoints/webhook-endpoints.js';
import { WebhookDeliveries } from '../webhooks/webhook-deliveries.js';
import { WebhookReceivers } from '../webhooks/webhook-receivers.js';
import { WebhookSecrets } from '../webhooks/webhook-secrets.js';
import { WebhookUrlPolicy } from '../webhooks/webhook-url-policy.js';

/** What commands need and no module gives. */
const SERVICES = [
  ExecutionsService,
  OpenHolds,
  WebhookDeliveries,
  WebhookReceivers,
  OperatorService,
  OperatorKeys,
  OperatorLedger,
  PriceBookStore,
  PriceWhatIf,
  OperatorPriceBooks,
  OperatorProviders,
  TaskInputs,
  WebhookSecrets,
  StoredContent,
  ResponseStore,
  SealedSecrets,
  DeliveriesService,
  IdSearch,
  WebhookUrlPolicy,
  WebhookEndpoints,
  OperatorEndpoints,
  OperatorPortalLinks,
  CatalogChanges,
];

/** The models by name, for every module of the commands. */
class NamedModels {}

/** The parts of the gateway that most commands need, without features and providers, so that a command answers within a second. */
@Module({})
export class OperatorsModule {
  static forRoot(config: GatewayConfig, logger: Logger): DynamicModule {
    const { databaseUrl, databasePooler: pooler, dataDir } = config;
    const { migrationDatabaseUrl, readerDatabaseUrl } = config;
    const loaded = loadCatalog(config.catalogFile, config.vendorsDir);
    const catalog = withSandboxModels(loaded, sandboxedProviders(config, loaded));
    const rules = EgressRules.parse(config.egressAllow.join(','));
    const newMoney = sandboxScope(config, loaded) === 'all' ? 'play' : 'real';
    return {
      module: OperatorsModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRootAsync({
          useFactory: () => ({
            databaseUrl,
            migrationDatabaseUrl,
            readerDatabaseUrl,
            pooler,
            dataDir,
            shareEmbedded: true,
            migrates: config.migrate === 'on' ? ('when-empty' as const) : ('never' as const),
          }),
        }),
        ObservabilityModule.forRoot(logger),
        SchedulerModule,
        AuthModule,
        BillingModule,
        RecoveryModule,
        StatementsModule,
        UsageModule,
        {
          module: NamedModels,
          global: true,
          // Commands run no model. They only ask which models exist.
          providers: [
            { provide: Catalog, useFactory: () => new Catalog(catalog.rows, () => false) },
          ],
          exports: [Catalog],
        },
        // Only a gateway has the keys of providers.
        ProvidersModule.forRoot({ providers: [] }),
      ],
      providers: [
        { provide: NEW_ACCOUNT_MONEY, useValue: (() => newMoney) satisfies NewAccountMoney },
        ...SERVICES,
        { provide: EgressRules, useValue: rules },
        { provide: SsrfSafeDialer, useValue: new SsrfSafeDialer({ rules }) },
        { provide: GatewayUrl, useValue: new GatewayUrl(config.publicUrl, config) },
      ],
    };
  }
}
