import type { AdminTasksService } from '../admin/admin-tasks.service.js';
import type { DeliveriesService } from '../admin/deliveries.service.js';
import type { IdSearch } from '../admin/id-search.js';
import type { OperatorActions } from '../auth/acts/operator-actions.js';
import type { ConsoleSessions } from '../auth/sessions/console-sessions.js';
import type { OperatorEndpoints } from '../admin/operator-endpoints.js';
import type { OperatorKeys } from '../admin/operator-keys.js';
import type { OperatorLedger } from '../admin/operator-ledger.js';
import type { OperatorPortalLinks } from '../admin/portal-links.js';
import type { OperatorPriceBooks } from '../admin/operator-price-books.js';
import type { OperatorProviders } from '../admin/operator-providers.js';
import type { OperatorService } from '../admin/operator.service.js';
import type { StatementAnswers } from '../billing/statements/statement-answers.js';
import type { CatalogChanges } from '../catalog/catalog-changes.js';
import type { OpenHolds } from '../billing/calls/open-holds.js';
import type { VendorReconciliation } from '../billing/reconciliation/vendor-reconciliation.js';
import type { UsageService } from '../billing/usage/usage.service.js';
import type { ResponseStore } from '../stored-responses/response-store.js';
import type { SealedSecrets } from '../sealed/sealed-secrets.js';
import type { WebhookReceivers } from '../webhooks/webhook-receivers.js';
import type { Options, Question } from './operator-request.js';

/** The services that every command uses. */
export interface CommonServices {
  readonly operator: OperatorService;
  readonly actions: OperatorActions;
}

/** The services that most commands use. The operator API uses the same. */
export interface Operators extends CommonServices {
  readonly keys: OperatorKeys;
  readonly ledger: OperatorLedger;
  readonly priceBooks: OperatorPriceBooks;
  readonly providers: OperatorProviders;
  readonly deliveries: DeliveriesService;
  readonly ids: IdSearch;
  readonly holds: OpenHolds;
  readonly receivers: WebhookReceivers;
  readonly endpoints: OperatorEndpoints;
  readonly portalLinks: OperatorPortalLinks;
  readonly sessions: ConsoleSessions;
  readonly statements: StatementAnswers;
  readonly usage: UsageService;
  readonly bills: VendorReconciliation;
  readonly catalogChanges: CatalogChanges;
  readonly sealed: SealedSecrets;
  readonly responses: ResponseStore;
}

/** The services that the commands about tasks use. */
export interface TaskOperators extends CommonServices {
  readonly tasks: AdminTasksService;
}

/** What a command does. Commands that change something are recorded. */
export interface OperatorCommand<Services = Operators> {
  readonly changes?: true;
  /**
   * For commands that take money, give it away or cannot be undone: on a terminal the operator is asked, unless `--yes` is there.
   * Where nobody can be asked, what moves money is done with `--yes` only. Undefined where nothing of the kind will be done.
   */
  readonly question?: (
    services: Services,
    words: readonly string[],
    options: Options,
  ) => Promise<Question | string | undefined>;
  readonly run: (
    services: Services,
    words: readonly string[],
    options: Options,
    /** Who runs it, as the record names them. */
    actor: string,
  ) => Promise<unknown>;
}

/** An answer, and what an operator is told beside it. */
export class NotedAnswer {
  constructor(
    readonly answer: unknown,
    readonly notes: readonly string[],
    /** Whether an earlier command did it, and this one nothing. */
    readonly isReplay = false,
  ) {}
}
