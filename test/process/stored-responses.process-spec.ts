import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { query } from '../support/embedded-gateways.js';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';

type Buyer = Awaited<ReturnType<GatewayProgram['account']>>;

/** So long that it is a value of its own in the pages and the log. */
const SAID = `remember ${'purple elephants '.repeat(60)}`;
const OTHER_KEY = 'another-secret-key-0123456789-0123456789';
const SEALED = 'SELECT sealed_item AS sealed FROM stored_item';

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => cleanUp(), PROCESS_TEST_TIMEOUT_MS);

const settingsOf = (dataDir: string, secretKey = '') => ({
  DATA_DIR: dataDir,
  SECRET_KEY: secretKey,
});

async function cli(settings: NodeJS.ProcessEnv, ...args: string[]) {
  const program = runBuilt('cli.js', args, settings);
  const { code } = await program.exited;
  return { code, stderr: program.stderr(), stdout: program.stdout() };
}

async function answerOf(settings: NodeJS.ProcessEnv, ...args: string[]): Promise<unknown> {
  const { code, stderr, stdout } = await cli(settings, ...args);
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as unknown;
}

/** Statements beside the gateway, or alone. */
async function read(dataDir: string, sql: string): Promise<Record<string, unknown>[]> {
  const server = await EmbeddedPostgres.attachOrStart({ dataDir });
  return query(server.url, sql).finally(() => server.stop());
}

async function respond({ url }: GatewayProgram, { headers }: Buyer, more = {}) {
  const body = { model: 'gen-5', input: SAID, ...more };
  const { status, json } = await postJson(`${url}/v1/responses`, headers, body);
  return { status, json: json as { id: string; output: { id: string }[]; error?: object } };
}

async function stored(gateway: GatewayProgram, buyer: Buyer) {
  const { status, json } = await respond(gateway, buyer);
  expect({ status, json }).toMatchObject({ status: 200, json: { store: true } });
  expect(await reading(gateway, buyer, json.id)).toBe(200);
  return json;
}

async function reading({ url }: GatewayProgram, { headers }: Buyer, path: string) {
  return (await send(`${url}/v1/responses/${path}`, { headers })).status;
}

/** The folders of unfinished backups beside an archive. */
async function copies(beside: string): Promise<string[]> {
  return (await readdir(beside)).filter((name) => name.startsWith('.shim-backup-'));
}

/** Proves that all references to a response answer as an unknown one, and that another one can be stored. */
async function expectUnknown(
  gateway: GatewayProgram,
  buyer: Buyer,
  { id, output: [item] }: Awaited<ReturnType<typeof stored>>,
): Promise<void> {
  expect(await reading(gateway, buyer, id)).toBe(404);
  expect(await reading(gateway, buyer, `${id}/input_items`)).toBe(404);
  for (const more of [
    { previous_response_id: id },
    { input: [{ type: 'item_reference', id: item?.id }] },
  ]) {
    expect(await respond(gateway, buyer, more)).toMatchObject({
      status: 400,
      json: { error: { code: 'previous_response_not_found' } },
    });
  }
  await stored(gateway, buyer);
}

describe('backup --without-content', () => {
  it(
    'has no conversation in a page, in the log or in the statistics, and is restored (G-108)',
    async () => {
      const [dataDir, elsewhere] = [join(folder, 'data'), join(folder, 'bare')];
      const [whole, bare] = [join(folder, 'whole.tar.gz'), join(folder, 'bare.tar.gz')];
      const gateway = await startGatewayProgram(settingsOf(dataDir));
      const buyer = await gateway.account();
      const kept = await stored(gateway, buyer);
      const other = (await respond(gateway, buyer, { input: `${SAID} no more` })).json;
      const sealed = (await read(dataDir, SEALED)).map((row) => String(row.sealed));
      expect(sealed.length).toBe(4);
      const { headers } = buyer;
      await send(`${gateway.url}/v1/responses/${other.id}`, { method: 'DELETE', headers });
      await read(dataDir, 'ANALYZE stored_item');

      await answerOf(settingsOf(dataDir), 'backup', whole);
      expect(
        await answerOf(settingsOf(dataDir), 'backup', bare, '--without-content'),
      ).toMatchObject({ contains: 'postgres, files, secret-key' });
      await gateway.end('SIGTERM');
      const [all, rest] = await Promise.all(
        [whole, bare].map(async (file) => gunzipSync(await readFile(file))),
      );
      expect(sealed.filter((text) => all?.includes(text.slice(0, 100)))).not.toEqual([]);
      expect(sealed.filter((text) => rest?.includes(text.slice(0, 100)))).toEqual([]);
      expect(await copies(folder)).toEqual([]);

      const restored = await answerOf(settingsOf(elsewhere), 'restore', bare);
      expect(restored).toMatchObject({ audit_ok: true });
      const second = await startGatewayProgram(settingsOf(elsewhere));
      await expectUnknown(second, buyer, kept);
      await second.end('SIGTERM');
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});

describe('a backup --without-content that is killed', () => {
  it(
    'leaves a copy of the database, which the next backup beside it removes (G-108)',
    async () => {
      const [dataDir, target] = [join(folder, 'interrupted'), join(folder, 'archives')];
      await mkdir(target);
      const gateway = await startGatewayProgram(settingsOf(dataDir));
      await stored(gateway, await gateway.account());
      const args = ['backup', join(target, 'first.tar.gz'), '--without-content'];
      const program = runBuilt('cli.js', args, settingsOf(dataDir));
      await until(async () => {
        const [copy] = await copies(target);
        return copy !== undefined && existsSync(join(target, copy, 'data', 'postgres'));
      });
      await program.end('SIGKILL');
      expect(await copies(target)).toHaveLength(1);

      await answerOf(settingsOf(dataDir), 'backup', join(target, 'second.tar.gz'));
      expect(await readdir(target)).toEqual(['first.tar.gz.unfinished', 'second.tar.gz']);
      await gateway.end('SIGTERM');
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});

describe('account:erase-content', () => {
  it(
    'asks, erases at once with --yes, with a gateway and without one, and is recorded (G-108)',
    async () => {
      const dataDir = join(folder, 'erased');
      const settings = settingsOf(dataDir);
      const gateway = await startGatewayProgram(settings);
      const [buyer, neighbour] = [await gateway.account(), await gateway.account()];
      const erase = ['account:erase-content', buyer.accountId];
      const [first, theirs] = [await stored(gateway, buyer), await stored(gateway, neighbour)];

      const asked = await cli(settings, ...erase);
      expect(asked).toMatchObject({ code: 1, stdout: '' });
      expect(asked.stderr).toMatch(/^This erases all stored responses of account test .*--yes/s);
      expect(await reading(gateway, buyer, first.id)).toBe(200);
      expect(await answerOf(settings, ...erase, '--yes')).toEqual({ erased_responses: 1 });
      await expectUnknown(gateway, buyer, first);
      expect(await reading(gateway, neighbour, theirs.id)).toBe(200);
      await gateway.end('SIGTERM');

      expect(await answerOf(settings, ...erase, '--yes')).toEqual({ erased_responses: 1 });
      expect(
        await answerOf(settings, 'actions', '--action', 'account:erase-content'),
      ).toMatchObject({
        data: Array.from({ length: 2 }, () => ({ action: 'account:erase-content' })),
      });
      const rows = await read(dataDir, 'SELECT DISTINCT account_id FROM stored_item');
      expect(rows.length).toBe(1);
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});

describe('a restored gateway whose key is lost', () => {
  it(
    'starts once the old texts are given up, and answers for them as for unknown ones (G-108)',
    async () => {
      const [dataDir, elsewhere] = [join(folder, 'keyed'), join(folder, 'other-key')];
      const file = join(folder, 'keyed.tar.gz');
      const gateway = await startGatewayProgram(settingsOf(dataDir, 'k'.repeat(40)));
      const buyer = await gateway.account();
      const kept = await stored(gateway, buyer);
      await gateway.end('SIGTERM');
      await answerOf(settingsOf(dataDir), 'backup', file);

      const settings = settingsOf(elsewhere, OTHER_KEY);
      await answerOf(settings, 'restore', file);
      const refused = runBuilt('main.js', [], { PORT: '0', ...settings });
      expect(await refused.exited).toMatchObject({ code: 1 });
      expect(refused.stderr()).toContain('secret:forget');
      expect(await answerOf(settings, 'secret:forget', '--yes')).toMatchObject({ dropped: 3 });
      const second = await startGatewayProgram(settings);
      await expectUnknown(second, buyer, kept);
      expect(await answerOf(settings, 'audit', '--full')).toMatchObject({ ok: true });
      await second.end('SIGTERM');
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});
