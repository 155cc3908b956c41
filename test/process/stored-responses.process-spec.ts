import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { fromPublicId, toPublicId } from '../../src/common/ids/public-id.js';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { query } from '../support/embedded-gateways.js';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';
import { BRISK, VIDEO } from '../support/video-harness.js';

type Buyer = Awaited<ReturnType<GatewayProgram['account']>>;

const MARK = 'purple elephants';
/** So long that it is a value of its own in the pages and the log. */
const SAID = `remember ${`${MARK} `.repeat(60)}`;
const OTHER_KEY = 'another-secret-key-0123456789-0123456789';
const SEALED = `
  SELECT account_id, sealed_item AS sealed FROM stored_item
  UNION ALL SELECT account_id, sealed_response FROM stored_response
  UNION ALL SELECT account_id, sealed_answer FROM kept_answer`;

const ENTRIES = 'SELECT position::int, kind, amount FROM ledger_entry ORDER BY position';
const OPEN_TASKS = 'SELECT id FROM task WHERE completed_at IS NULL';

let folder: string;
let dataDir: string;
let settings: NodeJS.ProcessEnv;
let gateway: GatewayProgram;
beforeAll(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder, 'data');
  settings = settingsOf(dataDir);
  // A command has no limit of time for the beginning of a database.
  await answerOf(settings, 'account:create', 'first');
  gateway = await startGatewayProgram(settings);
}, PROCESS_TEST_TIMEOUT_MS * 2);
afterAll(() => cleanUp(), PROCESS_TEST_TIMEOUT_MS);

const settingsOf = (DATA_DIR: string, key = SECRET_KEY) => ({
  ...BRISK,
  DATA_DIR,
  SECRET_KEY: key,
});

async function cli(own: NodeJS.ProcessEnv, ...args: string[]) {
  const program = runBuilt('cli.js', args, own);
  return { ...(await program.exited), stderr: program.stderr(), stdout: program.stdout() };
}

async function answerOf(own: NodeJS.ProcessEnv, ...args: string[]): Promise<unknown> {
  const { code, stderr, stdout } = await cli(own, ...args);
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as unknown;
}

/** Statements beside the gateway, or alone. */
async function read(sql: string): Promise<Record<string, unknown>[]> {
  const server = await EmbeddedPostgres.attachOrStart({ dataDir });
  return query(server.url, sql).finally(() => server.stop());
}

type Stored = { id: string; output: { id: string }[] } & { billing: { execution_id: string } };

async function respond({ url }: GatewayProgram, { headers }: Buyer, more = {}) {
  const body = { model: 'gen-5', input: SAID, ...more };
  const { status, json } = await postJson(`${url}/v1/responses`, headers, body);
  return { status, json: json as Stored };
}

async function stored(on: GatewayProgram, buyer: Buyer) {
  const { status, json } = await respond(on, buyer);
  expect({ status, json }).toMatchObject({ status: 200, json: { store: true } });
  expect(await reading(on, buyer, json.id)).toBe(200);
  return json;
}

async function reading({ url }: GatewayProgram, { headers }: Buyer, path: string) {
  return (await send(`${url}/v1/responses/${path}`, { headers })).status;
}

/** The folders of unfinished backups beside an archive. */
const copies = async (beside: string) =>
  (await readdir(beside)).filter((name) => name.startsWith('.shim-backup-'));

/** Proves that all references to a response answer as an unknown one, and that another one can be stored. */
async function expectUnknown(
  on: GatewayProgram,
  buyer: Buyer,
  { id, output: [item] }: Awaited<ReturnType<typeof stored>>,
): Promise<void> {
  expect(await reading(on, buyer, id)).toBe(404);
  expect(await reading(on, buyer, `${id}/input_items`)).toBe(404);
  for (const more of [
    { previous_response_id: id },
    { input: [{ type: 'item_reference', id: item?.id }] },
  ]) {
    expect(await respond(on, buyer, more)).toMatchObject({
      status: 400,
      json: { error: { code: 'previous_response_not_found' } },
    });
  }
  await stored(on, buyer);
}

/** The sealed texts of an account. */
async function sealedOf({ accountId }: Buyer): Promise<string[]> {
  const rows = await read(SEALED);
  return rows
    .filter((row) => toPublicId('acct', String(row.account_id)) === accountId)
    .map((row) => String(row.sealed));
}

/** All rows of all tables, as text. */
async function everyRow(): Promise<string> {
  const tables = await read(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const rows = await read(
    tables.map(({ name }) => `SELECT t::text AS row FROM ${String(name)} t`).join(' UNION ALL '),
  );
  return rows.map(({ row }) => String(row)).join('\n');
}

/** The ledger, and what usage says of each account and model. */
async function booksOf() {
  return [await read(ENTRIES), await answerOf(settings, 'usage', '--group-by', 'account,model')];
}

/** Names of the files below a folder with these bytes in them. */
async function filesWith(below: string, word: string): Promise<string[]> {
  const entries = await readdir(below, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const found: string[] = [];
  for (const { parentPath, name } of files) {
    const bytes = await readFile(join(parentPath, name)).catch(() => Buffer.alloc(0));
    if (bytes.includes(word)) found.push(name);
  }
  return found;
}

describe('backup --without-content', () => {
  it(
    'has no conversation in a page, in the log or in the statistics, and is restored (G-108)',
    async () => {
      const [whole, bare] = [join(folder, 'whole.tar.gz'), join(folder, 'bare.tar.gz')];
      const buyer = await gateway.account();
      const kept = await stored(gateway, buyer);
      const other = (await respond(gateway, buyer, { input: `${SAID} no more` })).json;
      const { headers } = buyer;
      const keeping = { ...buyer, headers: { ...headers, prefer: 'keep' } };
      const { billing } = (await respond(gateway, keeping, { store: false })).json;
      const sealed = await sealedOf(buyer);
      expect(sealed.length).toBe(7);
      await send(`${gateway.url}/v1/responses/${other.id}`, { method: 'DELETE', headers });
      await read('ANALYZE stored_item');

      await answerOf(settings, 'backup', whole);
      expect(await answerOf(settings, 'backup', bare, '--without-content')).toMatchObject({
        contains: 'postgres, files',
      });
      const [all, rest] = await Promise.all(
        [whole, bare].map(async (file) => gunzipSync(await readFile(file))),
      );
      expect(sealed.filter((text) => all?.includes(text.slice(0, 100)))).not.toEqual([]);
      expect(sealed.filter((text) => rest?.includes(text.slice(0, 100)))).toEqual([]);
      expect(await copies(folder)).toEqual([]);

      const elsewhere = settingsOf(join(folder, 'bare'));
      expect(await answerOf(elsewhere, 'restore', bare)).toMatchObject({ audit_ok: true });
      const second = await startGatewayProgram(elsewhere);
      await expectUnknown(second, buyer, kept);
      const path = `/v1/executions/${billing.execution_id}/content`;
      expect((await send(second.url + path, { headers })).status).toBe(404);
      await second.end('SIGTERM');
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );

  it(
    'leaves a copy of the database when it is killed, which the next backup beside it removes (G-108)',
    async () => {
      const target = join(folder, 'archives');
      await mkdir(target);
      const args = ['backup', join(target, 'first.tar.gz'), '--without-content'];
      const program = runBuilt('cli.js', args, settings);
      await until(async () => {
        const [copy] = await copies(target);
        return copy !== undefined && existsSync(join(target, copy, 'data', 'postgres'));
      });
      await program.end('SIGKILL');
      expect(await copies(target)).toHaveLength(1);

      await answerOf(settings, 'backup', join(target, 'second.tar.gz'));
      expect((await readdir(target)).sort()).toEqual(['first.tar.gz.unfinished', 'second.tar.gz']);
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});

describe('account:erase-content', () => {
  it(
    'asks, erases what one account said from every table, changes no sum, and is recorded (G-108)',
    async () => {
      const [buyer, neighbour] = [await gateway.account(), await gateway.account()];
      const erase = ['account:erase-content', buyer.accountId];
      const [first, theirs] = [await stored(gateway, buyer), await stored(gateway, neighbour)];
      const prompt = { ...VIDEO, prompt: MARK };
      const { status } = await postJson(`${gateway.url}/v1/videos`, buyer.headers, prompt);
      expect(status).toBe(200);
      await until(async () => (await read(OPEN_TASKS)).length === 0);
      const sealed = await sealedOf(buyer);
      expect(sealed.length).toBe(3);
      const books = await booksOf();

      const asked = await cli(settings, ...erase);
      expect(asked).toMatchObject({ code: 1, stdout: '' });
      expect(asked.stderr).toMatch(/^This erases all stored responses of account test .*--yes/s);
      expect(await reading(gateway, buyer, first.id)).toBe(200);
      expect(await answerOf(settings, ...erase, '--yes')).toEqual({ erased_responses: 1 });
      expect(await answerOf(settings, ...erase, '--yes')).toEqual({ erased_responses: 0 });

      const rows = await everyRow();
      expect(sealed.filter((text) => rows.includes(text))).toEqual([]);
      expect(rows.includes(MARK)).toBe(false);
      expect(await filesWith(dataDir, MARK)).toEqual([]);
      expect(await sealedOf(neighbour)).toHaveLength(3);
      expect(await reading(gateway, neighbour, theirs.id)).toBe(200);
      expect(await booksOf()).toEqual(books);
      expect(await answerOf(settings, 'audit', '--full')).toMatchObject({ ok: true });
      const action = erase[0] ?? '';
      const acts = ['actions', '--target', buyer.accountId, '--action', action];
      expect(await answerOf(settings, ...acts)).toMatchObject({ data: [{ action }, { action }] });
      await expectUnknown(gateway, buyer, first);
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});

describe('a gateway whose key is lost', () => {
  it(
    'does not start until the old texts are given up, then answers for them as for unknown ones (G-108)',
    async () => {
      const file = join(folder, 'keyed.tar.gz');
      const buyer = await gateway.account();
      const kept = await stored(gateway, buyer);
      await answerOf(settings, 'backup', file);

      const elsewhere = settingsOf(join(folder, 'other-key'), OTHER_KEY);
      await answerOf(elsewhere, 'restore', file);
      const refused = runBuilt('main.js', [], { PORT: '0', ...elsewhere });
      expect(await refused.exited).toMatchObject({ code: 1 });
      expect(refused.stderr()).toContain('secret:forget');
      expect(refused.stderr()).not.toContain('    at ');
      expect(await answerOf(elsewhere, 'secret:forget', '--yes')).toEqual({
        dropped: expect.any(Number),
      });
      const second = await startGatewayProgram(elsewhere);
      await expectUnknown(second, buyer, kept);
      expect(await answerOf(elsewhere, 'audit', '--full')).toMatchObject({ ok: true });
      await second.end('SIGTERM');
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );

  it(
    'answers for a sealed text that was damaged as for an unknown one, and goes on (G-108)',
    async () => {
      const buyer = await gateway.account();
      const kept = await stored(gateway, buyer);
      const own = `WHERE account_id = '${fromPublicId('acct', buyer.accountId)}'`;
      await read(`UPDATE stored_response SET sealed_response = 'v1.torn' ${own}`);
      await read(`UPDATE stored_item SET sealed_item = left(sealed_item, 40) ${own}`);
      await expectUnknown(gateway, buyer, kept);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
