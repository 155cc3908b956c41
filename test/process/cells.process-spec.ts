import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { Haproxy } from '../support/haproxy.js';
import { type Answer, errorOf, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  startGatewayProgram,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { VIDEO } from '../support/video-harness.js';

const CREDIT = 10_000_000n;
const CALLS = 5;
const TASK_PATIENCE_MS = 60_000;

interface Told {
  readonly data: Readonly<Record<string, unknown>>[];
  readonly posted_microusd: string;
}

async function told(cells: string, ...words: string[]): Promise<Told> {
  const program = runBuilt('cli.js', [...words, '--cells', cells], {});
  const { code } = await program.exited;
  expect({ words, code, stderr: program.stderr() }).toEqual({ words, code: 0, stderr: '' });
  return JSON.parse(program.stdout()) as Told;
}

const describeWithHaproxy = Haproxy.path === undefined ? describe.skip : describe;

describeWithHaproxy('two cells behind one edge (G-113)', () => {
  let databases: TestDatabase[];
  let first: GatewayProgram;
  let seventh: GatewayProgram;
  let edge: Haproxy;

  beforeAll(async () => {
    databases = [await createTestDatabase(), await createTestDatabase()];
    const [a, b] = databases.map(({ url }) => ({ DATABASE_URL: url, TASK_TICK_MS: '50' }));
    first = await startGatewayProgram({ ...a });
    seventh = await startGatewayProgram({ ...b, CELL: '07' });
    edge = await Haproxy.start('cells.cfg', { FIRST: first.url, SEVENTH: seventh.url });
  }, PROCESS_TEST_TIMEOUT_MS);
  afterAll(async () => {
    await cleanUp();
    for (const database of databases) await database.drop();
  }, PROCESS_TEST_TIMEOUT_MS);

  type Headers = Record<string, string>;
  const speak = (url: string, headers: Headers): Promise<Answer> =>
    postJson(`${url}/v1/audio/speech`, headers, HELLO);
  /** Makes a task and waits for its end, all through the edge. */
  const film = async (headers: Headers): Promise<string> => {
    const body = { ...VIDEO, prompt: 'The sea [[sandbox:task-ms=1]]' };
    const { json } = await postJson(`${edge.url}/v1/videos`, headers, body);
    const { id } = json as { id: string };
    let status = '';
    await until(async () => {
      ({ status } = (await send(`${edge.url}/v1/videos/${id}`, { headers })).json as {
        status: string;
      });
      return status === 'completed' || status === 'failed';
    }, TASK_PATIENCE_MS);
    return status;
  };

  it(
    'serve calls, tasks and balances of their own accounts, found by the text of the key',
    async () => {
      const ofFirst = await first.account(CREDIT);
      const ofSeventh = await seventh.account(CREDIT);
      expect([ofFirst.key, ofSeventh.key]).toEqual([
        expect.stringMatching(/^sk-[0-9A-Za-z]{43}$/),
        expect.stringMatching(/^sk-c07-[0-9A-Za-z]{43}$/),
      ]);
      for (const { headers } of [ofFirst, ofSeventh]) {
        for (let call = 0; call < CALLS; call += 1)
          expect((await speak(edge.url, headers)).status).toBe(200);
        expect(await film(headers)).toBe('completed');
      }
      // The other header of a key, on the one endpoint with which it is sent.
      const asMessages = { 'x-api-key': ofSeventh.key, 'anthropic-version': '2023-06-01' };
      expect((await send(`${edge.url}/v1/models`, { headers: asMessages })).status).toBe(200);
      const made = await seventh.admin('POST', `/accounts/${ofSeventh.accountId}/keys`, {
        scopes: ['call', 'manage'],
      });
      const maker = { authorization: `Bearer ${(made.json as { key: string }).key}` };
      const child = await postJson(`${edge.url}/v1/keys`, maker, { name: 'of a key' });
      expect((child.json as { key: string }).key).toMatch(/^sk-c07-/);
      for (const { dataSource } of databases)
        expect(await auditBooks(dataSource, 'full')).toMatchObject({ ok: true });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it('refuse the key of another cell with 401, and name that cell in the log', async () => {
    const { key, headers } = await seventh.account(CREDIT);
    const refused = await speak(first.url, headers);
    expect(refused.status).toBe(401);
    expect(errorOf(refused).code).toBe('invalid_token');
    await until(() => first.stdout().includes('a key of cell 07 was sent here'));
    expect(first.stdout()).not.toContain(key);
  });

  it(
    'are asked together by one command, which merges lists and adds up usage and audits',
    async () => {
      const of = databases.map(({ url }) => url);
      const [one, other] = [await first.account(CREDIT), await seventh.account(CREDIT)];
      await speak(first.url, one.headers);
      await speak(seventh.url, other.headers);
      const names = await Promise.all(of.map(async (url) => (await told(url, 'accounts')).data));
      const all = await told(of.join(','), 'accounts', '--all', '--limit', '1');
      expect(all.data).toHaveLength(names.flat().length);
      expect(all.data.map(({ id }) => id)).toEqual(
        expect.arrayContaining([one.accountId, other.accountId]),
      );
      expect(new Set(all.data.map(({ cell }) => cell)).size).toBe(2);
      expect(await told(of.join(','), 'account', other.accountId)).toMatchObject({
        id: other.accountId,
        cell: expect.stringMatching(new RegExp(`:5432${new URL(of[1] ?? '').pathname}$`)),
      });
      const usages = await Promise.all([...of, of.join(',')].map((url) => told(url, 'usage')));
      const [a = 0, b = 0, sum] = usages.map(({ data: [day] }) => Number(day?.charged_microusd));
      expect([a > 0, b > 0, sum]).toEqual([true, true, a + b]);
      const audits = await Promise.all(of.map((url) => told(url, 'audit', '--full')));
      const posted = audits.reduce((total, audit) => total + BigInt(audit.posted_microusd), 0n);
      expect(await told(of.join(','), 'audit', '--full')).toMatchObject({
        ok: true,
        posted_microusd: posted.toString(),
        cells: [{ ok: true }, { ok: true }],
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each([
    [['account:create', 'x'], 2, /does not take --cells/],
    [['accounts', '--csv'], 2, /does not take --csv/],
    [['usage', '--csv'], 2, /--csv is of one cell/],
    [['account', 'nobody'], 1, /No cell knows nobody/],
    [['executions', '--account-id', 'test'], 2, /Name the account by its id/],
    [['ledger', 'test'], 2, /Name the account by its id/],
    [['tasks'], 2, /does not take --cells/],
  ])('refuse %j where several are asked, and say why', async (words, code, sentence) => {
    const urls = databases.map(({ url }) => url).join(',');
    const program = runBuilt('cli.js', [...words, '--cells', urls], {});
    expect((await program.exited).code).toBe(code);
    expect(program.stderr()).toMatch(sentence);
  });

  it.each([
    'nonsense',
    'http://user:hunter2@db/x',
    'postgres://u:hunter2@db/x, postgres://u:hunter2@db/x',
    'postgres://u@db/x;postgres://u:hunter2@db/x',
    'postgres://u@db/x,u:hunter2@db/y',
  ])('are no list in %j, and no password is told', async (urls) => {
    const program = runBuilt('cli.js', ['accounts', '--cells', urls], {});
    expect((await program.exited).code).toBe(1);
    expect(program.stderr()).toMatch(/--cells (must be URLs|names db:5432\/x twice)/);
    expect(program.stderr()).not.toContain('hunter2');
  });

  it('do not notice that another one was killed', async () => {
    const ofFirst = await first.account(CREDIT);
    const ofSeventh = await seventh.account(CREDIT);
    await seventh.end('SIGKILL');
    expect((await speak(edge.url, ofSeventh.headers)).status).toBe(503);
    for (let call = 0; call < CALLS; call += 1)
      expect((await speak(edge.url, ofFirst.headers)).status).toBe(200);
    expect(await film(ofFirst.headers)).toBe('completed');
  });

  it('serve nothing but /v1 at the edge', async () => {
    expect((await send(`${edge.url}/admin/accounts`)).status).toBe(404);
    expect((await send(`${edge.url}/metrics`)).status).toBe(404);
  });
});
