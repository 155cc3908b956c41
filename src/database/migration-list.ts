import type { MigrationInterface } from 'typeorm';
import { CreateLedger1700000000010 } from './migrations/0010-create-ledger.migration.js';
import { CreateExecutions1700000000020 } from './migrations/0020-create-executions.migration.js';
import { CreateApiKeys1700000000030 } from './migrations/0030-create-api-keys.migration.js';
import { OneRowPerCall1700000000050 } from './migrations/0050-one-row-per-call.migration.js';
import { ExecutionSteps1700000000051 } from './migrations/0051-execution-steps.migration.js';
import { SweepAndLeases1700000000052 } from './migrations/0052-sweep-and-leases.migration.js';
import { AuditCheckpoints1700000000053 } from './migrations/0053-audit-checkpoints.migration.js';
import { CreateTasks1700000000060 } from './migrations/0060-create-tasks.migration.js';
import { CreateWebhooks1700000000070 } from './migrations/0070-create-webhooks.migration.js';
import { CreateStoredFiles1700000000080 } from './migrations/0080-create-stored-files.migration.js';
import { FollowKeyChanges1700000000090 } from './migrations/0090-follow-key-changes.migration.js';
import { PlayMoney1700000000095 } from './migrations/0095-play-money.migration.js';
import { OperatorActions1700000000097 } from './migrations/0097-operator-actions.migration.js';
import { StepsBySets1700000000120 } from './migrations/0120-steps-by-sets.migration.js';
import { TasksOfClientRequests1700000000121 } from './migrations/0121-tasks-of-client-requests.migration.js';
import { ResolvedHoldsAreFinal1700000000122 } from './migrations/0122-resolved-holds-are-final.migration.js';
import { WebhookLanes1700000000140 } from './migrations/0140-webhook-lanes.migration.js';
import { OperateKeys1700000000160 } from './migrations/0160-operate-keys.migration.js';
import { SpendLimits1700000000161 } from './migrations/0161-spend-limits.migration.js';
import { Refunds1700000000162 } from './migrations/0162-refunds.migration.js';
import { Usage1700000000163 } from './migrations/0163-usage.migration.js';
import { ExplainedTasks1700000000190 } from './migrations/0190-explained-tasks.migration.js';
import { LimitsBeginBesideTasks1700000000195 } from './migrations/0195-limits-begin-beside-tasks.migration.js';
import { UsageOfUndoneTasks1700000000196 } from './migrations/0196-usage-of-undone-tasks.migration.js';
import { DropRecords1700000000205 } from './migrations/0205-drop-records.migration.js';
import { LimitsFromUsage1700000000206 } from './migrations/0206-limits-from-usage.migration.js';
import { LimitsOutliveRotation1700000000207 } from './migrations/0207-limits-outlive-rotation.migration.js';
import { EndsShareAStatement1700000000225 } from './migrations/0225-ends-share-a-statement.migration.js';
import { UsageCheckpoints1700000000235 } from './migrations/0235-usage-checkpoints.migration.js';
import { DebtsOutliveRecords1700000000240 } from './migrations/0240-debts-outlive-records.migration.js';
import { OneOrderOfLocks1700000000241 } from './migrations/0241-one-order-of-locks.migration.js';
import { CappedStepsBySets1700000000242 } from './migrations/0242-capped-steps-by-sets.migration.js';
import { GivenBackEverywhere1700000000243 } from './migrations/0243-given-back-everywhere.migration.js';
import { DecisionsEndOlderDeliveries1700000000245 } from './migrations/0245-decisions-end-older-deliveries.migration.js';
import { UsageMonths1700000000255 } from './migrations/0255-usage-months.migration.js';
import { ClaimsSeeTheirTasks1700000000260 } from './migrations/0260-claims-see-their-tasks.migration.js';
import { OtherEntries1700000000285 } from './migrations/0285-other-entries.migration.js';
import { EndsLockInOrder1700000000300 } from './migrations/0300-ends-lock-in-order.migration.js';
import { EntriesKnowTheirTask1700000000301 } from './migrations/0301-entries-know-their-task.migration.js';
import { WebhookAccountsTakeTurns1700000000330 } from './migrations/0330-webhook-accounts-take-turns.migration.js';
import { NewestAttempts1700000000331 } from './migrations/0331-newest-attempts.migration.js';
import { OwedTasksAreTold1700000000332 } from './migrations/0332-owed-tasks-are-told.migration.js';
import { LateJobIds1700000000335 } from './migrations/0335-late-job-ids.migration.js';
import { ClaimsShareLanes1700000000340 } from './migrations/0340-claims-share-lanes.migration.js';
import { EndsKeepFiles1700000000341 } from './migrations/0341-ends-keep-files.migration.js';
import { EndsSeeLateJobs1700000000342 } from './migrations/0342-ends-see-late-jobs.migration.js';
import { ClaimsStepByKey1700000000343 } from './migrations/0343-claims-step-by-key.migration.js';
import { LateReversals1700000000350 } from './migrations/0350-late-reversals.migration.js';
import { NewestVersionsFirst1700000000351 } from './migrations/0351-newest-versions-first.migration.js';
import { CappedStepsNewestFirst1700000000352 } from './migrations/0352-capped-steps-newest-first.migration.js';
import { TaskRefunds1700000000353 } from './migrations/0353-task-refunds.migration.js';
import { OperatorOutcomes1700000000354 } from './migrations/0354-operator-outcomes.migration.js';
import { RotatedKeysNameSuccessors1700000000360 } from './migrations/0360-rotated-keys-name-successors.migration.js';
import { SuccessorsOfOlderRotations1700000000361 } from './migrations/0361-successors-of-older-rotations.migration.js';
import { UndoneTasksFreeLimits1700000000362 } from './migrations/0362-undone-tasks-free-limits.migration.js';
import { ResultsOfKnownSize1700000000363 } from './migrations/0363-results-of-known-size.migration.js';
import { FullerRecords1700000000410 } from './migrations/0410-fuller-records.migration.js';
import { FullerRecordsOfCappedKeys1700000000411 } from './migrations/0411-fuller-records-of-capped-keys.migration.js';
import { LateDeliveries1700000000450 } from './migrations/0450-late-deliveries.migration.js';
import { UnknownStates1700000000451 } from './migrations/0451-unknown-states.migration.js';
import { ReplaysBeforeModels1700000000452 } from './migrations/0452-replays-before-models.migration.js';
import { OpenCalls1700000000460 } from './migrations/0460-open-calls.migration.js';
import { ClaimsReadAccountsInOrder1700000000465 } from './migrations/0465-claims-read-accounts-in-order.migration.js';
import { SumsReadOpenCallsByKey1700000000466 } from './migrations/0466-sums-read-open-calls-by-key.migration.js';
import { PlayMoneyOfSandboxes1700000000470 } from './migrations/0470-play-money-of-sandboxes.migration.js';
import { PartialRefunds1700000000471 } from './migrations/0471-partial-refunds.migration.js';
import { LimitsFollowKeys1700000000472 } from './migrations/0472-limits-follow-keys.migration.js';
import { SealingKeys1700000000473 } from './migrations/0473-sealing-keys.migration.js';
import { UsageOfLateCharges1700000000479 } from './migrations/0479-usage-of-late-charges.migration.js';
import { KeptSongSteps1700000000490 } from './migrations/0490-kept-song-steps.migration.js';

/**
 * Every migration, oldest first, one line each. A class name ends in 13 digits, which increase, for example
 * `CreateAccount1700000000010`. A released migration is never changed or removed.
 */
export const MIGRATIONS: readonly (new () => MigrationInterface)[] = [
  CreateLedger1700000000010,
  CreateExecutions1700000000020,
  CreateApiKeys1700000000030,
  OneRowPerCall1700000000050,
  ExecutionSteps1700000000051,
  SweepAndLeases1700000000052,
  AuditCheckpoints1700000000053,
  CreateTasks1700000000060,
  CreateWebhooks1700000000070,
  CreateStoredFiles1700000000080,
  FollowKeyChanges1700000000090,
  PlayMoney1700000000095,
  OperatorActions1700000000097,
  StepsBySets1700000000120,
  TasksOfClientRequests1700000000121,
  ResolvedHoldsAreFinal1700000000122,
  WebhookLanes1700000000140,
  OperateKeys1700000000160,
  SpendLimits1700000000161,
  Refunds1700000000162,
  Usage1700000000163,
  ExplainedTasks1700000000190,
  LimitsBeginBesideTasks1700000000195,
  UsageOfUndoneTasks1700000000196,
  DropRecords1700000000205,
  LimitsFromUsage1700000000206,
  LimitsOutliveRotation1700000000207,
  EndsShareAStatement1700000000225,
  UsageCheckpoints1700000000235,
  DebtsOutliveRecords1700000000240,
  OneOrderOfLocks1700000000241,
  CappedStepsBySets1700000000242,
  GivenBackEverywhere1700000000243,
  DecisionsEndOlderDeliveries1700000000245,
  UsageMonths1700000000255,
  ClaimsSeeTheirTasks1700000000260,
  OtherEntries1700000000285,
  EndsLockInOrder1700000000300,
  EntriesKnowTheirTask1700000000301,
  WebhookAccountsTakeTurns1700000000330,
  NewestAttempts1700000000331,
  OwedTasksAreTold1700000000332,
  LateJobIds1700000000335,
  ClaimsShareLanes1700000000340,
  EndsKeepFiles1700000000341,
  EndsSeeLateJobs1700000000342,
  ClaimsStepByKey1700000000343,
  LateReversals1700000000350,
  NewestVersionsFirst1700000000351,
  CappedStepsNewestFirst1700000000352,
  TaskRefunds1700000000353,
  OperatorOutcomes1700000000354,
  RotatedKeysNameSuccessors1700000000360,
  SuccessorsOfOlderRotations1700000000361,
  UndoneTasksFreeLimits1700000000362,
  ResultsOfKnownSize1700000000363,
  FullerRecords1700000000410,
  FullerRecordsOfCappedKeys1700000000411,
  LateDeliveries1700000000450,
  UnknownStates1700000000451,
  ReplaysBeforeModels1700000000452,
  OpenCalls1700000000460,
  ClaimsReadAccountsInOrder1700000000465,
  SumsReadOpenCallsByKey1700000000466,
  PlayMoneyOfSandboxes1700000000470,
  PartialRefunds1700000000471,
  LimitsFollowKeys1700000000472,
  SealingKeys1700000000473,
  UsageOfLateCharges1700000000479,
  KeptSongSteps1700000000490,
];
