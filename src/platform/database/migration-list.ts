import { Baseline1700000001000 } from './migrations/1000-baseline.migration.js';
import { TaskEndpoint1700000001001 } from './migrations/1001-task-endpoint.migration.js';
import { OperatorValues1700000001010 } from './migrations/1010-operator-values.migration.js';
import { PriceBooks1700000001022 } from './migrations/1022-price-books.migration.js';
import { RefundReasons1700000001023 } from './migrations/1023-refund-reasons.migration.js';
import { UsageRefunds1700000001024 } from './migrations/1024-usage-refunds.migration.js';
import { KeysThatMakeKeys1700000001030 } from './migrations/1030-keys-that-make-keys.migration.js';
import { OutputCaps1700000001031 } from './migrations/1031-output-caps.migration.js';
import { CreditLots1700000001034 } from './migrations/1034-credit-lots.migration.js';
import { UsageTokens1700000001036 } from './migrations/1036-usage-tokens.migration.js';
import { Runs1700000001040 } from './migrations/1040-runs.migration.js';
import { UsageOfRuns1700000001041 } from './migrations/1041-usage-of-runs.migration.js';
import { CatalogChanges1700000001042 } from './migrations/1042-catalog-changes.migration.js';
import { PricedByBook1700000001044 } from './migrations/1044-priced-by-book.migration.js';
import { AccountEvents1700000001050 } from './migrations/1050-account-events.migration.js';
import { LateDeliveries1700000001052 } from './migrations/1052-late-deliveries.migration.js';
import { StoredResponses1700000001056 } from './migrations/1056-stored-responses.migration.js';
import { Costs1700000001060 } from './migrations/1060-costs.migration.js';
import { FailedDeliveries1700000001062 } from './migrations/1062-failed-deliveries.migration.js';
import { CancelledWhileRunning1700000001070 } from './migrations/1070-cancelled-while-running.migration.js';
import { ShortConditions1700000001080 } from './migrations/1080-short-conditions.migration.js';
import { Attempts1700000001150 } from './migrations/1150-attempts.migration.js';
import { UsageByHour1700000001155 } from './migrations/1155-usage-by-hour.migration.js';
import { OpenTasks1700000001156 } from './migrations/1156-open-tasks.migration.js';
import { ConsoleSessions1700000001160 } from './migrations/1160-console-sessions.migration.js';
import { Routes1700000001165 } from './migrations/1165-routes.migration.js';
import { TopUpPage1700000001175 } from './migrations/1175-topup-page.migration.js';
import { ErasedContent1700000001176 } from './migrations/1176-erased-content.migration.js';
import { OldestVersions1700000001210 } from './migrations/1210-oldest-versions.migration.js';
import { MonthsByMonth1700000001215 } from './migrations/1215-months-by-month.migration.js';
import { FewerConditions1700000001220 } from './migrations/1220-fewer-conditions.migration.js';
import { BackgroundResponses1700000001230 } from './migrations/1230-background-responses.migration.js';
import { OperatorIdentities1700000001240 } from './migrations/1240-operator-identities.migration.js';
import { FiguresLeader1700000001260 } from './migrations/1260-figures-leader.migration.js';
import { KeptAnswers1700000001270 } from './migrations/1270-kept-answers.migration.js';
import { KeptFiles1700000001280 } from './migrations/1280-kept-files.migration.js';
import { AccountMoves1700000001290 } from './migrations/1290-account-moves.migration.js';
import type { SchemaMigration } from './schema-migration.js';

/**
 * Every migration, oldest first, one line each. A class name ends in 13 digits, which increase, for example
 * `AddColour1700000001010`. A released migration is never changed or removed.
 * Each says the oldest version of the gateway that may run on the schema after it, which the database keeps.
 */
export const MIGRATIONS: readonly (new () => SchemaMigration)[] = [
  Baseline1700000001000,
  TaskEndpoint1700000001001,
  OperatorValues1700000001010,
  PriceBooks1700000001022,
  RefundReasons1700000001023,
  UsageRefunds1700000001024,
  KeysThatMakeKeys1700000001030,
  OutputCaps1700000001031,
  CreditLots1700000001034,
  UsageTokens1700000001036,
  Runs1700000001040,
  UsageOfRuns1700000001041,
  CatalogChanges1700000001042,
  PricedByBook1700000001044,
  AccountEvents1700000001050,
  LateDeliveries1700000001052,
  StoredResponses1700000001056,
  Costs1700000001060,
  FailedDeliveries1700000001062,
  CancelledWhileRunning1700000001070,
  ShortConditions1700000001080,
  Attempts1700000001150,
  UsageByHour1700000001155,
  OpenTasks1700000001156,
  ConsoleSessions1700000001160,
  Routes1700000001165,
  TopUpPage1700000001175,
  ErasedContent1700000001176,
  OldestVersions1700000001210,
  MonthsByMonth1700000001215,
  FewerConditions1700000001220,
  BackgroundResponses1700000001230,
  OperatorIdentities1700000001240,
  FiguresLeader1700000001260,
  KeptAnswers1700000001270,
  KeptFiles1700000001280,
  AccountMoves1700000001290,
];
