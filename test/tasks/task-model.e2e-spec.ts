import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../src/common/errors/gateway-error.js';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { type Task, TASK_FAILED } from '../../src/tasks/task.js';
import { TaskCancellation } from '../../src/tasks/completion/task-cancellation.js';
import { TaskCompletion } from '../../src/tasks/completion/task-completion.js';
import { TASK_END_FUNCTION } from '../../src/tasks/completion/task-end-function.js';
import { LEASE_MS } from '../../src/tasks/task-lane.js';
import { TaskResolution } from '../../src/tasks/completion/task-resolution.js';
import {
  type ClaimedWork,
  TaskWorkRepository,
} from '../../src/tasks/worker/task-work.repository.js';
import type { PollPlan, SubmitPlan } from '../support/job-provider.js';
import type { TestAccount } from '../support/gateway.js';
import { withDeathAt } from '../support/watched-statements.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';
import { type Decision, type Happening, TaskOracle } from './task-oracle.js';

const CREDIT = 10_000_000n;
/** By hand more, with `npm run test:crash -- tasks`. */
const RUNS = Number(process.env.MODEL_RUNS ?? 40);
const PLANS: SubmitPlan[] = [
  'accept',
  'accept',
  'done',
  'refuse',
  'busy',
  'html',
  'reset',
  'crash',
];
const STATES: PollPlan[] = [
  { status: 'running', progress: 5 },
  { status: 'done', progress: 100, result: { url: 'x' } },
  { status: 'done' },
  { status: 'failed' },
  { status: '', broken: 'reset' },
];

const which = fc.nat({ max: 5 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('submit'), plan: fc.constantFrom(...PLANS) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('provider'), state: fc.constantFrom(...STATES) }),
  },
  { weight: 6, arbitrary: fc.constant({ do: 'step' }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' }) },
  { weight: 2, arbitrary: fc.constant({ do: 'pause' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('die'),
      task: which,
      moment: fc.constantFrom('before', 'after'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deadline'), task: which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel'), task: which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('resolve'),
      task: which,
      outcome: fc.constantFrom('succeeded', 'failed'),
    }),
  },
);

/** Histories that once were not what the table of states says. */
const KNOWN: [Happening[]][] = [
  // The worker died when the work that was done at once was noted, and its end was not.
  [
    [
      { do: 'submit', plan: 'done' },
      { do: 'die', task: 0, moment: 'before' },
    ],
  ],
];

let harness: TaskHarness;
beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());

/** Runs the same happenings on the gateway. */
class Reality {
  readonly tasks: Task[] = [];

  constructor(private readonly account: TestAccount) {}

  async apply(happening: Happening): Promise<void> {
    switch (happening.do) {
      case 'submit': {
        const webhook = { url: 'https://example.com/hook', secret: undefined };
        this.tasks.push(await harness.submit(this.account, { plan: happening.plan, webhook }));
        return;
      }
      case 'provider':
        harness.provider.state = happening.state;
        return;
      case 'step':
        return harness.run();
      case 'crash':
        return this.crash();
      case 'pause':
        return this.pause();
      case 'die':
        return this.die(happening);
      case 'deadline':
      case 'cancel':
      case 'resolve':
        return this.decide(happening);
    }
  }

  private async crash(): Promise<void> {
    const statements = harness.gateway.app.get(TaskWorkRepository);
    for (const { task, fence, phase } of await this.claim()) {
      if (phase !== 'waiting') continue;
      const mark = { accountId: task.accountId, taskId: task.id, fence, delayMs: LEASE_MS };
      await statements.advance([{ ...mark, phase: 'submitting' }]);
    }
  }

  private async pause(): Promise<void> {
    const paused = await this.claim();
    await harness.run();
    const ending = harness.gateway.app.get(TaskCompletion);
    for (const { task, fence } of paused) {
      const late = {
        event: 'failed',
        fence,
        error: { code: TASK_FAILED, message: 'late' },
      } as const;
      expect(await ending.end(task, late, 0)).toBeUndefined();
    }
  }

  private async die({ task: index, moment }: Extract<Happening, { do: 'die' }>): Promise<void> {
    const task = this.tasks[index];
    if (!task) return;
    const { dataSource } = harness.gateway;
    await dataSource.query(
      `UPDATE task_work SET due_at = now() + CASE WHEN task_id = $1 THEN '0' ELSE '1 hour' END::interval`,
      [task.id],
    );
    const pool = harness.gateway.app.get(DataSource);
    await withDeathAt(pool, { name: TASK_END_FUNCTION.name, moment }, () => harness.step());
  }

  private async claim(): Promise<ClaimedWork[]> {
    await harness.hurry();
    const asked = {
      available: new Map<string, number>(),
      inUse: [],
      runningIds: [],
      leaseMs: LEASE_MS,
    };
    return harness.gateway.app.get(TaskWorkRepository).claim(asked);
  }

  private async decide(happening: Decision): Promise<void> {
    const task = this.tasks[happening.task];
    if (!task) return;
    if (happening.do === 'deadline') return harness.overdue(task);
    const { app } = harness.gateway;
    const caller = { ...this.account, apiKeyId: '', allowedModels: null };
    const decision =
      happening.do === 'cancel'
        ? app
            .get(TaskCancellation)
            .cancel(
              { ...caller, requestsPerMinute: null, expiresAtMs: null, scopes: ['read', 'call'] },
              toPublicId('task', task.id),
            )
        : app.get(TaskResolution).resolve(task.id, { outcome: happening.outcome });
    await decision.catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.status !== 409) throw error;
    });
  }
}

async function deliveredOf(task: Task): Promise<{ status: string }[]> {
  const rows = await harness.gateway.dataSource.query<{ body: Buffer }[]>(
    `SELECT body FROM webhook_delivery WHERE owner_id = $1 ORDER BY id`,
    [task.id],
  );
  return rows.map(({ body }) => JSON.parse(body.toString()) as { status: string });
}

it('the tasks of random happenings are what the table of states says, and so is the money', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 30 }), async (happenings) => {
      await harness.gateway.dataSource.query(`DELETE FROM task_work`);
      harness.provider.state = { status: 'running' };
      const account = await harness.gateway.account(CREDIT);
      const oracle = new TaskOracle();
      const reality = new Reality(account);
      for (const one of happenings) {
        oracle.apply(one);
        await reality.apply(one);
      }
      let heldMicroUsd = 0n;
      let chargedMicroUsd = 0n;
      for (const [index, task] of reality.tasks.entries()) {
        const expected = oracle.tasks[index];
        const now = await harness.read(task);
        expect(now.status).toBe(expected?.status);
        expect((await deliveredOf(task)).map(({ status }) => status)).toEqual(expected?.ends);
        if (now.status === 'succeeded') chargedMicroUsd += JOB_PRICE;
        if (['queued', 'processing', 'reconciliation_required'].includes(now.status)) {
          heldMicroUsd += JOB_PRICE;
        }
      }
      const { available, held } = await harness.gateway.balance(account.accountId);
      expect({ available, held }).toEqual({
        available: CREDIT - heldMicroUsd - chargedMicroUsd,
        held: heldMicroUsd,
      });
    }),
    { numRuns: RUNS, examples: KNOWN },
  );
});
