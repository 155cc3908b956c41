import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { DeliveriesService } from '../admin/deliveries.service.js';
import { OperatorActions } from '../auth/acts/operator-actions.js';
import { ConsoleSessions } from '../auth/sessions/console-sessions.js';
import { IdSearch } from '../admin/id-search.js';
import { OperatorEndpoints } from '../admin/operator-endpoints.js';
import { OperatorKeys } from '../admin/operator-keys.js';
import { OperatorLedger } from '../admin/operator-ledger.js';
import { OperatorPortalLinks } from '../admin/portal-links.js';
import { OperatorPriceBooks } from '../admin/operator-price-books.js';
import { OperatorProviders } from '../admin/operator-providers.js';
import { OperatorService } from '../admin/operator.service.js';
import { loadOperatorConfig } from '../platform/config/load-config.js';
import { withSecretKeys } from '../platform/config/secret-key-file.js';
import { makeLogger } from '../platform/observability/logger.js';
import { ResponseStore } from '../stored-responses/response-store.js';
import { SealedSecrets } from '../sealed/sealed-secrets.js';
import { StatementAnswers } from '../billing/statements/statement-answers.js';
import { CatalogChanges } from '../catalog/catalog-changes.js';
import { OpenHolds } from '../billing/calls/open-holds.js';
import { VendorReconciliation } from '../billing/reconciliation/vendor-reconciliation.js';
import { UsageService } from '../billing/usage/usage.service.js';
import { WebhookReceivers } from '../webhooks/webhook-receivers.js';
import type { Operators, TaskOperators } from './operator-command.js';
import { OperatorsModule } from './operators.module.js';

const QUIET = { logger: false, abortOnError: false } as const;

/** Runs a command with the services that most commands use and their database, and closes them. */
export async function withOperators<T>(
  work: (operators: Operators, dataSource: DataSource) => Promise<T>,
  settings = loadOperatorConfig(),
): Promise<T> {
  const config = await withSecretKeys(settings);
  const module = OperatorsModule.forRoot(config, makeLogger('silent', false));
  const app = await NestFactory.createApplicationContext(module, QUIET);
  return work(operatorsOf(app), app.get(DataSource)).finally(() => app.close());
}

/** The services of a gateway that most commands use. */
export function operatorsOf(app: INestApplicationContext): Operators {
  return {
    operator: app.get(OperatorService),
    keys: app.get(OperatorKeys),
    ledger: app.get(OperatorLedger),
    priceBooks: app.get(OperatorPriceBooks),
    providers: app.get(OperatorProviders),
    deliveries: app.get(DeliveriesService),
    ids: app.get(IdSearch),
    holds: app.get(OpenHolds, { strict: false }),
    receivers: app.get(WebhookReceivers, { strict: false }),
    endpoints: app.get(OperatorEndpoints),
    portalLinks: app.get(OperatorPortalLinks),
    sessions: app.get(ConsoleSessions, { strict: false }),
    actions: app.get(OperatorActions),
    statements: app.get(StatementAnswers, { strict: false }),
    usage: app.get(UsageService, { strict: false }),
    bills: app.get(VendorReconciliation, { strict: false }),
    catalogChanges: app.get(CatalogChanges, { strict: false }),
    sealed: app.get(SealedSecrets),
    responses: app.get(ResponseStore, { strict: false }),
  };
}

/** The same for tasks. Their answers depend on their kinds, so the whole gateway is needed. Only this function loads it. */
export async function withTasks<T>(
  work: (operators: TaskOperators) => Promise<T>,
  settings = loadOperatorConfig(),
): Promise<T> {
  const [{ AppModule }, { AdminTasksService }, { loadCatalog }] = await Promise.all([
    import('../app.module.js'),
    import('../admin/admin-tasks.service.js'),
    import('../catalog/catalog-file.js'),
  ]);
  const config = await withSecretKeys(settings);
  const module = AppModule.forRoot({
    config,
    logger: makeLogger('silent', false),
    catalog: loadCatalog(config.catalogFile, config.vendorsDir),
    providers: { providers: [] },
    shareEmbedded: true,
  });
  const app = await NestFactory.createApplicationContext(module, QUIET);
  const operators = {
    tasks: app.get(AdminTasksService),
    actions: app.get(OperatorActions),
    operator: app.get(OperatorService),
  };
  return work(operators).finally(() => app.close());
}
