import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { ReversalJournal } from '../../src/billing/recovery/reversal-journal.js';
import { query } from '../support/embedded-gateways.js';
import { postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  processesIn,
  runBuilt,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';
import { BRISK, VIDEO, type Video } from '../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const WEBHOOK_SECRET = 'whsec-of-a-caller-0123456789';
const BUYERS = 4;
const PAUSE_MS = 20;

let folder: string;
let receiver: WebhookReceiver;

beforeAll(async () => {
  folder = await temporaryFolder();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await cleanUp();
  await receiver.stop();
}, PROCESS_TEST_TIMEOUT_MS);

type Buyer = Awaited<ReturnType<GatewayProgram['account']>>;

const settingsOf = (dataDir: string) => ({
  ...BRISK,
  ...receiver.settings,
  DATA_DIR: dataDir,
  SECRET_KEY: '',
});

async function cli(dataDir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const program = runBuilt('cli.js', args, { DATA_DIR: dataDir });
  const { code } = await program.exited;
  expect({ args, code, stderr: program.stderr() }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(program.stdout()) as Record<string, unknown>;
}

/** A stored file, and a delivery whose secret is sealed. */
async function buyVideo({ url }: GatewayProgram, { headers }: Buyer) {
  const body = { ...VIDEO, webhook: receiver.url, webhook_secret: WEBHOOK_SECRET };
  const { id } = (await postJson(`${url}/v1/videos`, headers, body)).json as Video;
  const path = `/v1/videos/${id}`;
  await until(async () => {
    return ((await send(`${url}${path}`, { headers })).json as Video).status === 'completed';
  });
  const { bytes } = await send(`${url}${path}/content`, { headers });
  return { content: `${path}/content`, bytes };
}

/** Calls and tasks of each buyer, one after the other, until told to stop. */
function load({ url }: GatewayProgram, buyers: readonly Buyer[]) {
  let isOver = false;
  const loops = buyers.map(async ({ headers }) => {
    while (!isOver) {
      await postJson(`${url}/v1/audio/speech`, headers, HELLO);
      await postJson(`${url}/v1/videos`, headers, VIDEO);
      await sleep(PAUSE_MS);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(loops);
  };
}

const ENTRIES = `
  SELECT account_id, position::int AS position, kind, amount, balance_after FROM ledger_entry
   ORDER BY account_id, position`;
const BALANCES = `
  SELECT a.id AS account_id, a.posted, coalesce(max(e.position), 0)::int AS position
    FROM account a LEFT JOIN ledger_entry e ON e.account_id = a.id GROUP BY 1, 2 ORDER BY 1`;

/** Reads a data folder that no gateway runs on. */
async function read(dataDir: string, sql: string): Promise<Record<string, unknown>[]> {
  const server = await EmbeddedPostgres.attachOrStart({ dataDir });
  return query(server.url, sql).finally(() => server.stop());
}

async function redeliver(gateway: GatewayProgram): Promise<void> {
  const { json } = await gateway.admin('GET', '/webhook-deliveries');
  const [delivery] = (json as { data: { id: string }[] }).data;
  await gateway.admin('POST', `/webhook-deliveries/${delivery?.id ?? ''}/redeliver`);
}

const CHARGED = `
  SELECT e.id, e.account_id, e.process_id, a.posted FROM execution e JOIN account a ON a.id = e.account_id
   WHERE e.charged > 0`;
const CREDIT = 1_000_000n;

describe('a backup of a gateway that was killed', () => {
  it(
    'has the debts of the gateway: after a restore the charge of a failed call is given back',
    async () => {
      const [dataDir, elsewhere] = [join(folder, 'killed'), join(folder, 'paid')];
      const file = join(folder, 'killed.tar.gz');
      const settings = { HOLD_SWEEP_MS: '1000', SECRET_KEY: '' };
      const gateway = await startGatewayProgram({ ...settings, DATA_DIR: dataDir });
      const { headers } = await gateway.account(CREDIT);
      expect((await postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO)).status).toBe(200);
      const [call] = await read(dataDir, CHARGED);
      await gateway.end('SIGKILL');
      // Its database ends with it.
      await until(async () => (await processesIn(dataDir)).length === 0);
      assert(call);
      expect(BigInt(String(call.posted))).toBeLessThan(CREDIT);
      // What the gateway writes when it never hears of the commit, before the caller gets 503.
      const journal = new ReversalJournal(dataDir, String(call.process_id));
      await journal.write({
        executionId: String(call.id),
        accountId: String(call.account_id),
        apiKeyId: null,
        model: HELLO.model,
        endpoint: '/v1/audio/speech',
        errorCode: 'service_unavailable',
        provider: null,
        providerRequestId: null,
      });
      await journal.close(false);

      expect((await cli(dataDir, 'backup', file)).contains).toContain('owed');
      expect(await cli(elsewhere, 'restore', file)).toMatchObject({ audit_ok: true });
      await startGatewayProgram({ ...settings, DATA_DIR: elsewhere });
      await until(async () => {
        const accounts = await read(elsewhere, BALANCES);
        const account = accounts.find(({ account_id: id }) => id === call.account_id);
        return BigInt(String(account?.posted)) === CREDIT;
      });
      expect(await read(elsewhere, CHARGED)).toEqual([]);
      expect(await cli(elsewhere, 'audit', '--full')).toMatchObject({ ok: true });
      await until(
        async () => (await new ReversalJournal(elsewhere, 'reader').files()).length === 0,
      );
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});

describe('a backup of a gateway that serves', () => {
  it(
    'is restored with books that are exact, keys that work, stored files, and secrets that open',
    async () => {
      const [dataDir, elsewhere] = [join(folder, 'data'), join(folder, 'new', 'data')];
      const file = join(folder, 'backup.tar.gz');
      const gateway = await startGatewayProgram(settingsOf(dataDir));
      const buyers = await Promise.all(Array.from({ length: BUYERS }, () => gateway.account()));
      const [buyer] = buyers as [Buyer];
      const { content, bytes } = await buyVideo(gateway, buyer);
      await receiver.until(1);

      const stopLoad = load(gateway, buyers);
      await until(async () => (await read(dataDir, ENTRIES)).length > BUYERS * 4);
      const before = await read(dataDir, ENTRIES);
      const made = await cli(dataDir, 'backup', file);
      await stopLoad();
      expect(made).toMatchObject({ file });
      // On a slow machine a call may have failed and be owed.
      expect(made.contains).toMatch(/^postgres, files, secret-key(, owed)?$/);
      const live = await read(dataDir, ENTRIES);
      // The demo account is only there if the first start made it before the first buyer came.
      const { length: accounts } = await read(dataDir, BALANCES);
      await gateway.end('SIGTERM');

      const restored = await cli(elsewhere, 'restore', file);
      expect(restored).toMatchObject({ audit_ok: true, accounts });
      const entries = await read(elsewhere, ENTRIES);
      const isKept = new Set(entries.map((entry) => JSON.stringify(entry)));
      // All that was there at first, nothing that never was, and of each account all entries up to one of them.
      expect(before.filter((entry) => !isKept.has(JSON.stringify(entry)))).toEqual([]);
      const balances = await read(elsewhere, BALANCES);
      const expected = balances.flatMap(({ account_id: id, position }) =>
        live.filter(
          (entry) => entry.account_id === id && Number(entry.position) <= Number(position),
        ),
      );
      expect(entries).toEqual(expected);
      const posted = balances.reduce((sum, row) => sum + BigInt(String(row.posted)), 0n);
      expect(restored.posted_microusd).toBe(posted.toString());

      const second = await startGatewayProgram(settingsOf(elsewhere));
      const answer = await postJson(`${second.url}/v1/audio/speech`, buyer.headers, HELLO);
      expect(answer.status).toBe(200);
      const kept = await send(`${second.url}${content}`, { headers: buyer.headers });
      expect(kept.bytes.equals(bytes)).toBe(true);
      const received = receiver.received.length;
      await redeliver(second);
      const [delivery] = (await receiver.until(received + 1)).slice(received);
      const header = String(delivery?.headers['x-shim-signature']);
      const [, at, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
      const signed = createHmac('sha256', WEBHOOK_SECRET).update(`${at ?? ''}.`);
      expect(signature).toBe(signed.update(delivery?.body ?? '').digest('hex'));
      expect(await cli(elsewhere, 'audit', '--full')).toMatchObject({ ok: true });
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});

describe('a backup with a task that was not sent yet', () => {
  it(
    'is restored with the task left to an operator and named, and with --resume as it was (G-111)',
    async () => {
      const [dataDir, kept, resumed] = ['unsent', 'kept', 'resumed'].map((name) =>
        join(folder, name),
      ) as [string, string, string];
      const file = join(folder, 'unsent.tar.gz');
      const settings = { ...settingsOf(dataDir), TASK_TICK_MS: '86400000' };
      const gateway = await startGatewayProgram(settings);
      const { headers } = await gateway.account();
      const { id } = (await postJson(`${gateway.url}/v1/videos`, headers, VIDEO)).json as Video;
      await cli(dataDir, 'backup', file);
      await gateway.end('SIGTERM');

      const open = { open_tasks: 1, open_task_ids: [id], open_tasks_not_named: 0 };
      const answer = await cli(kept, 'restore', file);
      expect(answer).toMatchObject({ ...open, undecided_tasks: 1 });
      expect(await cli(kept, 'task', id)).toMatchObject({ task_status: 'reconciliation_required' });

      const going = await cli(resumed, 'restore', file, '--resume');
      expect(going).toMatchObject({ ...open, undecided_tasks: 0 });
      expect(await cli(resumed, 'task', id)).toMatchObject({ task_status: 'queued' });
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});
