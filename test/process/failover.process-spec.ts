import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { type Answer, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  type Program,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  startGatewayProgram,
  statusOf,
} from '../support/process.js';
import { ReplicatedPostgres } from '../support/replicated-postgres.js';
import { PgBouncer } from '../support/pgbouncer.js';
import { until } from '../support/until.js';

const CALLS = 5;
const itWithPooler = PgBouncer.program === undefined ? it.skip : it;
const describeWithPostgres = ReplicatedPostgres.programs === undefined ? describe.skip : describe;

describeWithPostgres('a gateway whose DATABASE_URL names a leader and its standby', () => {
  let leader: ReplicatedPostgres;
  let standby: ReplicatedPostgres;
  let gateway: GatewayProgram;
  let late: Program | undefined;
  let lateUrl: string;
  let buyer: Awaited<ReturnType<GatewayProgram['account']>>;

  const settingsFor = (databaseUrl: string): NodeJS.ProcessEnv => ({
    DATABASE_URL: databaseUrl,
    SANDBOX: 'on',
    HOLD_SWEEP_MS: '1000',
  });
  const speak = (url = gateway.url): Promise<Answer> =>
    postJson(`${url}/v1/audio/speech`, buyer.headers, {
      ...HELLO,
      input: 'Hello [[sandbox:instant]]',
    });
  const chargesOn = async (server: ReplicatedPostgres): Promise<number> => {
    const [row] = await server.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM ledger_entry WHERE kind = 'charge'`,
    );
    return row?.n ?? -1;
  };

  beforeAll(async () => {
    leader = await ReplicatedPostgres.start();
    standby = await leader.standby();
    const hosts = `127.0.0.1:${standby.port},127.0.0.1:${leader.port}`;
    gateway = await startGatewayProgram(
      settingsFor(`postgresql://shim@${hosts}/postgres?target_session_attrs=read-write`),
    );
    buyer = await gateway.account();
  }, PROCESS_TEST_TIMEOUT_MS);
  afterAll(async () => {
    await cleanUp();
    await standby.remove();
    await leader.remove();
  }, PROCESS_TEST_TIMEOUT_MS);

  it(
    'passes over the standby, which is named first, and warns that a fail-over to it may lose calls',
    async () => {
      for (let call = 0; call < CALLS; call += 1) expect((await speak()).status).toBe(200);
      expect(await chargesOn(leader)).toBe(CALLS);
      expect(gateway.stdout()).toContain('synchronous_standby_names is empty');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  itWithPooler(
    'passes over a standby behind a pooler too',
    async () => {
      const to = `* = host=127.0.0.1 port=${standby.port}`;
      const pooler = await PgBouncer.start('[databases]', to);
      const url = `${pooler.through(standby.url())}?target_session_attrs=primary`;
      const dataSource = createDataSource({ url, pooler: 'named' });
      await expect(dataSource.initialize()).rejects.toThrow('is a standby, in recovery');
      await pooler.stop();
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'that starts on the standby alone says so, is live, and is not ready',
    async () => {
      const port = await freePort();
      lateUrl = `http://127.0.0.1:${port}`;
      late = runBuilt('main.js', [], {
        ...settingsFor(standby.url()),
        SECRET_KEY,
        PORT: String(port),
      });
      await until(async () => (await statusOf(`${lateUrl}/health/ready`)) === 503);
      expect(await statusOf(`${lateUrl}/health/live`)).toBe(200);
      const refusal = await speak(lateUrl);
      expect(refusal.status).toBe(503);
      expect(refusal.json).toMatchObject({ error: { code: 'service_unavailable' } });
      expect(refusal.headers.get('retry-after')).toBe('5');
      await until(() => late?.stdout().includes('the database is a standby, in recovery') === true);
      expect(late.child.exitCode).toBeNull();
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'goes on with the standby once the leader is killed and the standby promoted',
    async () => {
      const [row] = await leader.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
      await until(async () => {
        const [at] = await standby.query<{ is: boolean }>(
          `SELECT pg_last_wal_replay_lsn() >= '${row?.lsn}' AS is`,
        );
        return at?.is === true;
      });
      await leader.signal('SIGKILL');
      await until(async () => (await speak()).status === 503);
      await standby.promote();
      await until(async () => (await speak()).status === 200);
      // Every host is tried for each connection, so from now on no call is refused.
      const answers = await Promise.all(Array.from({ length: CALLS }, () => speak()));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(await chargesOn(standby)).toBe(2 * CALLS + 1);
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) === 200);
      await until(() => gateway.stdout().includes("the database's timeline changed"));
      expect((await gateway.admin('GET', '/audit')).json).toMatchObject({ ok: true });
      const metrics = (await send(`${gateway.url}/metrics`)).bytes.toString();
      expect(metrics).toMatch(/^gateway_calls_lost_total 0$/m);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'the start that waited goes on when its standby is promoted, and serves',
    async () => {
      await until(async () => (await statusOf(`${lateUrl}/health/ready`)) === 200, 60_000);
      expect((await speak(lateUrl)).status).toBe(200);
      expect(late?.stdout()).toContain('the database takes writes now');
      expect(await late?.end('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'throws away every connection to a server that became read-only, and goes on once it takes writes',
    async () => {
      const sessions = async () =>
        (
          await standby.query<{ pid: number }>(
            `SELECT pid FROM pg_stat_activity WHERE application_name = 'shim-gateway'`,
          )
        ).map(({ pid }) => pid);
      const before = await sessions();
      expect(before.length).toBeGreaterThan(0);
      await standby.query(`ALTER SYSTEM SET default_transaction_read_only = on`);
      await standby.query('SELECT pg_reload_conf()');
      await until(async () => (await speak()).status === 503);
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) === 503);
      await standby.query('ALTER SYSTEM RESET default_transaction_read_only');
      await standby.query('SELECT pg_reload_conf()');
      await until(async () => (await speak()).status === 200);
      const after = new Set(await sessions());
      expect(before.filter((pid) => after.has(pid))).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
