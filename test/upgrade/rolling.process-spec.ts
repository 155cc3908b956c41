import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { DataSource } from 'typeorm';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  startGatewayProgram,
} from '../support/process.js';
import { dumpSchema } from '../support/schema-dump.js';
import { createEmptyDatabase, type EmptyDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { BRISK } from '../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';
import { Customer } from './customer.js';
import { BUILD_TIMEOUT_MS, describeUpgrade, formerVersion } from './build-former-version.js';

const SCHEMA = readFileSync(
  new URL('../../src/platform/database/schema.sql', import.meta.url),
  'utf8',
);
const LIMIT = { spend_limit_microusd: '90000000', spend_limit_period: 'month' };
const GRANT = 20_000_000n;
/** A call holds nothing once the lease of its lost process is over, 15 s after its last beat, and a sweep has come. */
const SWEEP = { HOLD_SWEEP_MS: '1000' };

describeUpgrade(
  'processes of the last version, on a database that this version has migrated',
  () => {
    let database: EmptyDatabase;
    let dataSource: DataSource;
    let receiver: WebhookReceiver;
    let sandbox: Sandbox;
    let providers: NodeJS.ProcessEnv;
    let root: string;
    let former: GatewayProgram;
    let present: GatewayProgram;
    const customers: Customer[] = [];

    const settings = (): NodeJS.ProcessEnv => ({
      ...BRISK,
      ...SWEEP,
      DATABASE_URL: database.url,
      // Jobs outlive the gateway that ordered them.
      ...providers,
    });
    const newCustomers = async (gateway: GatewayProgram): Promise<Customer[]> => {
      const made = [
        await Customer.of(gateway, receiver.url),
        await Customer.of(gateway, receiver.url, LIMIT),
      ];
      customers.push(...made);
      return made;
    };

    beforeAll(async () => {
      root = await formerVersion();
      database = await createEmptyDatabase();
      receiver = await startWebhookReceiver();
      sandbox = await startSandbox();
      const { apiKey, url } = sandbox;
      providers = {
        ELEVENLABS_API_KEY: apiKey,
        ELEVENLABS_BASE_URL: `${url}/elevenlabs`,
        OPENAI_API_KEY: apiKey,
        OPENAI_BASE_URL: `${url}/openai/v1`,
        VIDEO_API_KEY: apiKey,
        VIDEO_BASE_URL: `${url}/video/v1`,
        EGRESS_ALLOW: `${receiver.settings.EGRESS_ALLOW},${new URL(url).host}`,
      };
      former = await startGatewayProgram(settings(), { root });
      dataSource = await createDataSource({ url: database.url, poolSize: 2 }).initialize();
    }, BUILD_TIMEOUT_MS);
    afterAll(async () => {
      await cleanUp();
      await dataSource.destroy();
      await database.drop();
      await receiver.stop();
      await sandbox.close();
    }, PROCESS_TEST_TIMEOUT_MS);

    /** Calls, tasks with webhooks and a refund of two customers by one gateway. */
    async function work(
      gateway: GatewayProgram,
      [free, capped]: readonly Customer[],
    ): Promise<void> {
      if (free === undefined || capped === undefined) throw new Error('There are two customers');
      const told = receiver.received.length;
      for (const customer of [free, capped]) {
        await customer.calls(gateway);
        expect((await customer.call(gateway, 'status=500')).status).toBe(502);
        expect(await customer.ended(gateway, await customer.submit(gateway))).toBe('completed');
      }
      const failing = await free.submit(gateway, 'task-fails');
      expect(await free.ended(gateway, failing)).toBe('failed');
      await receiver.until(told + 3);
      const [paid] = await dataSource.query<{ id: string }[]>(
        `SELECT replace(id::text, '-', '') AS id FROM execution
        WHERE api_key_id = $1 AND charged > 0 ORDER BY created_at DESC LIMIT 1`,
        [uuidOf(free.keyId)],
      );
      const refund = await gateway.admin('POST', `/executions/exec_${paid?.id ?? ''}/refund`, {});
      expect(refund.status).toBe(201);
    }

    /** Waits until nothing is held, and proves the books and the balances. */
    async function areExact(): Promise<void> {
      const held = `SELECT coalesce(sum(held), 0)::int AS held FROM account`;
      await until(async () => {
        const [row] = await dataSource.query<{ held: number }[]>(held);
        return row?.held === 0;
      });
      expect(await auditBooks(dataSource, 'full')).toMatchObject({ ok: true, discrepancies: [] });
    }

    /** Waits until the provider has a task: one whose process ends while it is being sent is for an operator to decide. */
    const isSent = (id: string): Promise<void> =>
      until(async () => {
        const sending = `SELECT FROM task_work WHERE task_id = $1 AND phase IN ('waiting', 'submitting')`;
        return (await dataSource.query<unknown[]>(sending, [uuidOf(id)])).length === 0;
      });

    const openCalls = async (): Promise<number> => {
      const running = `SELECT count(*)::int AS n FROM execution WHERE status = 'running'`;
      const [row] = await dataSource.query<{ n: number }[]>(running);
      return row?.n ?? 0;
    };

    it(
      'go on beside a process of this version: each does the work of the other’s customers',
      async () => {
        const olds = await newCustomers(former);
        await work(former, olds);
        const underWay = await olds[0]!.submit(former, 'task-ms=4000');
        present = await startGatewayProgram(settings());
        expect((await dumpSchema(dataSource)).split('\n')).toEqual(SCHEMA.split('\n'));
        const news = await newCustomers(present);
        await Promise.all([work(former, news), work(present, olds)]);
        expect(await olds[0]!.ended(present, underWay)).toBe('completed');
        await areExact();
      },
      PROCESS_TEST_TIMEOUT_MS,
    );

    it(
      'list the tasks of every customer, because nobody gets one of a kind that they do not know',
      async () => {
        const customer = customers[0]!;
        const refused = await customer.background(present);
        expect(refused.status).toBe(503);
        expect(refused.headers.get('retry-after')).toBe('30');
        expect(refused.bytes.toString()).toContain('upgraded from version 0.1.0');
        expect((await customer.get(former, '/v1/tasks')).status).toBe(200);
        await areExact();
      },
      PROCESS_TEST_TIMEOUT_MS,
    );

    it(
      'spend granted money first, as those of this version do, and leave what is paid',
      async () => {
        const customer = customers[0]!;
        const account = `/accounts/${customer.accountId}`;
        const kinds = async () =>
          ((await present.admin('GET', account)).json as { credits: Credit[] }).credits.map(
            ({ credit_kind: kind, remaining_microusd: rest }) => [kind, BigInt(rest)] as const,
          );
        const [[, paid] = []] = await kinds();
        const terms = {
          credit_kind: 'granted',
          expires_at: Math.floor(Date.now() / 1000) + 86_400,
        };
        const credit = { amount_microusd: String(GRANT), ...terms };
        expect((await present.admin('POST', `${account}/credits`, credit)).status).toBe(201);
        for (const gateway of [former, present, former]) {
          await customer.calls(gateway);
          expect(await customer.ended(gateway, await customer.submit(gateway))).toBe('completed');
        }
        await areExact();
        const charged = `
          SELECT sum(-amount) AS amount FROM ledger_entry e
           WHERE account_id = $1 AND kind = 'charge' AND position > (
             SELECT max(position) FROM ledger_entry WHERE account_id = $1 AND credit_kind = 'granted')`;
        const [row] = await dataSource.query<{ amount: string }[]>(charged, [
          uuidOf(customer.accountId),
        ]);
        const left = GRANT - BigInt(row?.amount ?? 0);
        expect(left).toBeLessThan(GRANT);
        expect(await kinds()).toEqual([
          ['granted', left],
          ['paid', paid],
        ]);
      },
      PROCESS_TEST_TIMEOUT_MS,
    );

    it(
      'release what a process of this version held that was killed, and do all work alone',
      async () => {
        const [customer] = customers;
        void customer!.call(present, 'hang').catch(() => undefined);
        const waiting = await customer!.submit(present, 'task-ms=4000');
        await until(async () => (await openCalls()) === 1);
        await isSent(waiting);
        await present.end('SIGKILL');
        expect(await customer!.ended(former, waiting)).toBe('completed');
        await work(former, customers);
        await areExact();
      },
      PROCESS_TEST_TIMEOUT_MS,
    );

    it('are not started anew: a start says that a newer version has migrated', async () => {
      const again = runBuilt('main.js', [], { ...settings(), SECRET_KEY, PORT: '0' }, { root });
      expect((await again.exited).code).not.toBe(0);
      expect(again.stdout() + again.stderr()).toContain(
        'migrated by a newer version of the gateway',
      );
    });

    it(
      'leave calls and tasks that this version takes over',
      async () => {
        const [customer] = customers;
        present = await startGatewayProgram(settings());
        void customer!.call(former, 'hang').catch(() => undefined);
        const waiting = await customer!.submit(former, 'task-ms=4000');
        await until(async () => (await openCalls()) === 1);
        await isSent(waiting);
        await former.end('SIGKILL');
        expect(await customer!.ended(present, waiting)).toBe('completed');
        await work(present, customers);
        await areExact();
      },
      PROCESS_TEST_TIMEOUT_MS,
    );

    it(
      'are followed by responses in the background, once the last of them has ended',
      async () => {
        const customer = customers[0]!;
        await until(async () => (await customer.background(present)).status === 200);
        const tasks = await customer.get(present, '/v1/tasks');
        expect((tasks.json as { data: object[] }).data[0]).toMatchObject({ modality: 'text' });
        await areExact();
      },
      PROCESS_TEST_TIMEOUT_MS,
    );
  },
);

interface Credit {
  readonly credit_kind: string;
  readonly remaining_microusd: string;
}

const uuidOf = (publicId: string): string => publicId.slice(publicId.indexOf('_') + 1);
