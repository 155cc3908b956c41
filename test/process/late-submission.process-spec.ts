import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { SEND_WINDOW_MS } from '../../src/tasks/worker/send-window.js';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { VIDEO } from '../support/video-harness.js';

const CREDIT = 10_000_000n;
/** Whoever marks a submission as sent waits until the test gives this lock up. */
const GATE = 7_411;

let database: TestDatabase;
let provider: StubUpstream;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await StubUpstream.start();
  provider.reply = (response, { method }) => {
    response.setHeader('content-type', 'application/json');
    const status = method === 'POST' ? 'queued' : 'failed';
    response.end(JSON.stringify({ id: 'video_1', object: 'video', status }));
  };
  settings = {
    DATABASE_URL: database.url,
    STORAGE_URL: `file://${await temporaryFolder()}`,
    VIDEO_API_KEY: 'stub-provider-key',
    VIDEO_BASE_URL: provider.url,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '200',
  };
  await database.dataSource.query(`
    CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(${GATE});
      RETURN NEW;
    END $$`);
  await database.dataSource.query(`
    CREATE TRIGGER gate BEFORE UPDATE ON task_work FOR EACH ROW
      WHEN (NEW.phase = 'submitting' AND OLD.phase = 'waiting') EXECUTE FUNCTION wait_at_gate()`);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await provider.stop();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

beforeEach(() => {
  provider.seen.length = 0;
});

const query = <Row extends object = object>(sql: string): Promise<Row[]> =>
  database.dataSource.query<Row[]>(sql);
const WAITING = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${GATE} AND NOT granted`;
const submissions = () => provider.seen.filter(({ method }) => method === 'POST').length;

/** A gateway that stands still while its statement that marks a submission as sent waits at the gate. */
async function suspendedAtMark() {
  const suspended = await startGatewayProgram(settings);
  const { headers } = await suspended.account(CREDIT);
  // Not before the start: the server ends transactions that are idle for long.
  const gate = database.dataSource.createQueryRunner();
  await gate.startTransaction();
  await gate.query(`SELECT pg_advisory_xact_lock(${GATE})`);
  const body = { ...VIDEO, prompt: 'The sea' };
  const answer = await postJson(`${suspended.url}/v1/videos`, headers, body);
  expect(answer).toMatchObject({ status: 200 });
  await until(async () => (await query(WAITING)).length > 0);
  suspended.child.kill('SIGSTOP');
  const openGate = async (): Promise<void> => {
    await gate.rollbackTransaction();
    await gate.release();
  };
  return { suspended, suspendedAtMs: performance.now(), headers, openGate };
}

/** Ends the lease of the task, once it is in this phase. */
async function endLeaseIn(phase: string): Promise<void> {
  const marked = `UPDATE task_work SET due_at = now() WHERE phase = '${phase}' RETURNING 1`;
  await until(async () => ((await query(marked)) as object[][])[0]?.length === 1);
}

/** Lets the suspended gateway do all that it wanted. Its task has ended, for nothing. */
async function resumed(
  suspended: GatewayProgram,
  other: GatewayProgram,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  suspended.child.kill('SIGCONT');
  // A drain waits for every step that is under way.
  expect(await suspended.end('SIGTERM')).toMatchObject({ code: 0 });
  const account = (await send(`${other.url}/v1/account`, { headers })).json;
  expect(account).toMatchObject({ available_microusd: String(CREDIT), held_microusd: '0' });
  expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
  await other.end('SIGKILL');
}

it(
  'a gateway that was suspended between the mark and the first byte does not send what another one took over',
  async () => {
    const { suspended, suspendedAtMs, headers, openGate } = await suspendedAtMark();
    await openGate();
    await endLeaseIn('submitting');
    const other = await startGatewayProgram(settings);
    const unknown = `SELECT id FROM task WHERE status = 'reconciliation_required'`;
    await until(async () => (await query(unknown)).length === 1);
    const [task] = await query<{ id: string }>(unknown);
    const path = `/tasks/${toPublicId('task', task?.id ?? '')}/resolve`;
    expect(await other.admin('POST', path, { outcome: 'failed' })).toMatchObject({ status: 200 });
    await sleep(Math.max(0, SEND_WINDOW_MS - (performance.now() - suspendedAtMs)));
    await resumed(suspended, other, headers);
    expect(submissions()).toBe(0);
  },
  PROCESS_TEST_TIMEOUT_MS,
);

it(
  'a gateway that was suspended before its mark was stored does not send what another one has sent',
  async () => {
    const { suspended, headers, openGate } = await suspendedAtMark();
    await query(`SELECT pg_terminate_backend(pid) FROM (${WAITING}) w`);
    await openGate();
    await endLeaseIn('waiting');
    const other = await startGatewayProgram(settings);
    await until(
      async () => (await query(`SELECT 1 FROM task_work WHERE phase <> 'watching'`)).length === 0,
    );
    await resumed(suspended, other, headers);
    expect(submissions()).toBe(1);
  },
  PROCESS_TEST_TIMEOUT_MS,
);
