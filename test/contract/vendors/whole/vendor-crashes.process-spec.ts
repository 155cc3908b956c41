import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource, QueryRunner } from 'typeorm';
import { auditLedger } from '../../../../src/billing/audit/audit.js';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  temporaryFolder,
} from '../../../support/process.js';
import { createTestDatabase, type TestDatabase } from '../../../support/test-database.js';
import { until } from '../../../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.js';
import { settingsOf, startVendors, type VendorGateway } from './played-gateway.js';
import type { PlayedVendor, VendorScript } from './played-vendor.js';
import { PLAYED_WIRES } from './played-wires.js';
import { Scene } from './scene.js';

const ids = PLAYED_WIRES.map(({ id }) => id);
/** No task is due while this is in force. */
const POSTPONED = `
  CREATE FUNCTION postponed() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN NEW.due_at := now() + interval ''1 day''; RETURN NEW; END';
  CREATE TRIGGER postponed BEFORE INSERT ON task_work FOR EACH ROW EXECUTE FUNCTION postponed()`;
const NOT_POSTPONED = `DROP TRIGGER postponed ON task_work; DROP FUNCTION postponed()`;
const BLOCKED = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let database: TestDatabase;
let receiver: WebhookReceiver;
let vendors: PlayedVendor[];
let settings: NodeJS.ProcessEnv;
let program: GatewayProgram;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ dataSource } = database);
  receiver = await startWebhookReceiver();
  vendors = await startVendors();
  settings = {
    ...settingsOf(vendors),
    DATABASE_URL: database.url,
    DATA_DIR: await temporaryFolder(),
    STORAGE_URL: `file://${await temporaryFolder()}`,
    PORT: String(await freePort()),
  };
  program = await startGatewayProgram(settings);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([receiver.stop(), ...vendors.map((vendor) => vendor.stop())]);
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

const gateway = (): VendorGateway => ({
  url: program.url,
  dataSource,
  account: (credit) => program.account(credit),
  operate: (path, body) => program.admin('POST', path, body),
});
const all = (scenes: readonly Scene[], is: (scene: Scene) => boolean) =>
  until(() => scenes.every(is));
const kill = () => program.end('SIGKILL');

/** Locks the rows of all tasks, so that nothing about them can be written, until the lock is rolled back. */
async function lockTasks(): Promise<QueryRunner> {
  const lock = dataSource.createQueryRunner();
  await lock.startTransaction();
  await lock.query('SELECT FROM task FOR UPDATE');
  await lock.query('SELECT FROM task_work FOR UPDATE');
  return lock;
}

/** Kills the gateway while its statements wait for the lock; they are lost with it, or committed after its death. */
async function killWriting(lock: QueryRunner, isCommitted: boolean): Promise<void> {
  try {
    await until(async () => (await dataSource.query<object[]>(BLOCKED)).length > 0);
    await kill();
    if (!isCommitted)
      await dataSource.query(`SELECT pg_terminate_backend(pid) FROM (${BLOCKED}) b`);
  } finally {
    await lock.rollbackTransaction();
    await lock.release();
  }
}

/** A moment of a video at which the gateway dies, with what has to come of it. */
interface Edge {
  readonly when: string;
  readonly script: Partial<VendorScript>;
  /** Before the order. */
  before?(): Promise<unknown>;
  /** Brings all videos to the moment, and kills. */
  die(scenes: readonly Scene[]): Promise<unknown>;
  readonly isUnknown?: boolean;
}

const isRead = ({ order }: Scene): boolean => order.reads > 0;
const isSent = ({ order }: Scene): boolean => order.submissions.length > 0;

/** Holds the files of all videos, locks the tasks, gives the files, and kills while the ends of the tasks are written. */
async function dieAtTheEnd(scenes: readonly Scene[], isCommitted: boolean): Promise<void> {
  await all(scenes, ({ order }) => order.files > 0);
  const lock = await lockTasks();
  vendors.forEach((vendor) => {
    vendor.goOn();
  });
  await killWriting(lock, isCommitted);
}

const EDGES: readonly Edge[] = [
  {
    when: 'before the job is sent',
    script: {},
    before: () => dataSource.query(POSTPONED),
    async die() {
      await kill();
      await dataSource.query(NOT_POSTPONED);
    },
  },
  {
    when: 'after the job was sent',
    script: { submit: ['hold'] },
    async die(scenes) {
      await all(scenes, isSent);
      await kill();
    },
    isUnknown: true,
  },
  {
    when: 'after the vendor answered, before that is stored',
    script: { submit: ['wait'] },
    async die(scenes) {
      await all(scenes, isSent);
      const lock = await lockTasks();
      vendors.forEach((vendor) => {
        vendor.goOn();
      });
      await killWriting(lock, false);
    },
    isUnknown: true,
  },
  {
    when: 'between two reads',
    script: { reads: ['waiting'] },
    async die(scenes) {
      await all(scenes, isRead);
      await kill();
      for (const { order } of scenes) order.script.reads = ['done'];
    },
  },
  {
    when: 'within a read',
    script: { reads: ['hold', 'done'] },
    async die(scenes) {
      await all(scenes, isRead);
      await kill();
    },
  },
  {
    when: 'while the file is fetched',
    script: { files: ['hold', 'file'] },
    async die(scenes) {
      await all(scenes, ({ order }) => order.files > 0);
      await kill();
    },
  },
  {
    when: 'before it is paid',
    script: { files: ['wait', 'file'] },
    die: (scenes) => dieAtTheEnd(scenes, false),
  },
  {
    when: 'after it was paid, before it knows',
    script: { files: ['wait', 'file'] },
    die: (scenes) => dieAtTheEnd(scenes, true),
  },
];

/** Kills the gateway at the edge, starts another; returns what was wrong, by vendor. */
async function crashed(edge: Edge): Promise<ReadonlyMap<string, unknown>> {
  await edge.before?.();
  const stage = { gateway: gateway(), receiver };
  const scenes = await Scene.openAll(stage, vendors, `killed ${edge.when}`, edge.script);
  await edge.die(scenes);
  // The leases of the dead process have ended.
  await dataSource.query(`UPDATE task_work SET due_at = least(due_at, now())`);
  program = await startGatewayProgram(settings);
  const play = async (scene: Scene): Promise<void> => {
    scene.goOnAt(gateway());
    // A vendor that is asked by our reference has the job.
    if (!edge.isUnknown || scene.vendor.wire.found !== undefined) return scene.expectPaid();
    await scene.expectUnknown();
    await scene.resolve('failed');
    await scene.expectFree();
  };
  const ends = await Promise.allSettled(scenes.map(play));
  return new Map(
    ends.map((end, index): [string, unknown] => [
      vendors[index]?.wire.id ?? '',
      end.status === 'rejected' ? end.reason : undefined,
    ]),
  );
}

describe.each(EDGES)('a gateway that is killed $when', (edge) => {
  let faults: ReadonlyMap<string, unknown>;
  beforeAll(async () => {
    faults = await crashed(edge);
  }, PROCESS_TEST_TIMEOUT_MS);

  it.each(ids)(
    `${edge.isUnknown ? 'leaves it to an operator, or finds it' : 'pays it once'}: %s`,
    (id) => {
      if (faults.get(id) !== undefined) throw faults.get(id);
      expect(faults.has(id)).toBe(true);
    },
  );

  it('leaves exact books', async () => {
    expect(await auditLedger(dataSource)).toMatchObject({
      ok: true,
      discrepancies: [],
      heldMicroUsd: 0n,
    });
  });
});

it('killed gateways told each caller once', () => {
  const paths = receiver.received.map(({ path }) => path);
  expect(paths).toHaveLength(EDGES.length * ids.length);
  expect(new Set(paths).size).toBe(paths.length);
});
