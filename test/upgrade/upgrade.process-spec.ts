import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MIGRATIONS } from '../../src/platform/database/migration-list.js';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { query } from '../support/embedded-gateways.js';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  runProgram,
  type SpawnIdentity,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { BRISK } from '../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';
import { Customer } from './customer.js';
import { BUILD_TIMEOUT_MS, describeUpgrade, formerVersion } from './build-former-version.js';

const TOO_OLD = 'Start version 0.1.0 once on it, then this version';
const ENTRIES = 'SELECT id, amount, balance_after FROM ledger_entry ORDER BY position';
/** Makes the schema that version 0.1.0 had while it was young. Run in its folder, with the URL of an empty database. */
const MIGRATE_EARLY = `
  const { createDataSource } = await import('./dist/database/data-source.js');
  const { runMigrations } = await import('./dist/database/run-migrations.js');
  const dataSource = createDataSource({ url: process.argv[1], poolSize: 1 });
  dataSource.setOptions({ migrations: dataSource.options.migrations.slice(0, 40) });
  await runMigrations(await dataSource.initialize());
  await dataSource.destroy();`;

describeUpgrade('the steps of docs/operate/upgrade.md', () => {
  let folder: string;
  let root: string;
  let receiver: WebhookReceiver;
  let former: SpawnIdentity;

  beforeAll(async () => {
    root = await formerVersion();
    former = { root };
    folder = await temporaryFolder();
    receiver = await startWebhookReceiver();
  }, BUILD_TIMEOUT_MS);
  afterAll(async () => {
    await cleanUp();
    await receiver.stop();
  }, PROCESS_TEST_TIMEOUT_MS);

  const start = (dataDir: string, of: SpawnIdentity = {}) =>
    startGatewayProgram(
      { ...BRISK, ...receiver.settings, DATA_DIR: dataDir, SECRET_KEY: '', SANDBOX: 'on' },
      of,
    );

  async function cli(dataDir: string, args: readonly string[], of: SpawnIdentity = {}) {
    const program = runBuilt('cli.js', args, { DATA_DIR: dataDir }, of);
    const { code } = await program.exited;
    return { code, said: program.stdout() + program.stderr() };
  }

  /** With the database of a folder that no gateway runs on. */
  async function on<T>(dataDir: string, work: (url: string) => Promise<T>): Promise<T> {
    const server = await EmbeddedPostgres.start({ dataDir });
    return work(server.url).finally(() => server.stop());
  }

  async function audited(url: string) {
    const dataSource = await createDataSource({ url, poolSize: 2 }).initialize();
    return auditBooks(dataSource, 'full').finally(() => dataSource.destroy());
  }

  it(
    'bring a data folder of version 0.1.0 to this version, and so does a restore of its backup',
    async () => {
      const [dataDir, elsewhere] = [join(folder, 'data'), join(folder, 'restored')];
      const file = join(folder, 'before.tar.gz');
      const before = await start(dataDir, former);
      const customer = await Customer.of(before, receiver.url);
      await customer.calls(before);
      const video = await customer.submit(before);
      expect(await customer.ended(before, video)).toBe('completed');
      const { bytes } = await customer.get(before, `/v1/videos/${video}/content`);
      await receiver.until(1);
      expect((await before.end('SIGTERM')).code).toBe(0);
      const entries = await on(dataDir, (url) => query(url, ENTRIES));
      expect(entries.length).toBeGreaterThan(3);
      expect(await cli(dataDir, ['backup', file], former)).toMatchObject({ code: 0 });

      const present = await start(dataDir);
      const content = await customer.get(present, `/v1/videos/${video}/content`);
      expect(content.bytes.equals(bytes)).toBe(true);
      await customer.calls(present);
      expect(await customer.ended(present, await customer.submit(present))).toBe('completed');
      await receiver.until(2);
      expect((await present.end('SIGTERM')).code).toBe(0);
      expect(await cli(dataDir, ['audit', '--full'])).toMatchObject({ code: 0 });
      const after = await on(dataDir, (url) => query(url, ENTRIES));
      expect(after.slice(0, entries.length)).toEqual(entries);
      const migrations = await on(dataDir, (url) => query(url, 'SELECT name FROM migration'));
      expect(migrations).toEqual(MIGRATIONS.map(({ name }) => ({ name })));

      expect(await cli(elsewhere, ['restore', file, '--yes'])).toMatchObject({ code: 0 });
      expect(await on(elsewhere, (url) => query(url, ENTRIES))).toEqual(entries);
      expect(await on(elsewhere, audited)).toMatchObject({ ok: true });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'are named where a data folder or a backup is older, and work after one start of version 0.1.0',
    async () => {
      const dataDir = join(folder, 'old');
      const file = join(folder, 'old.tar.gz');
      await on(dataDir, async (url) => {
        const early = [process.execPath, '--input-type=module', '-e', MIGRATE_EARLY, url] as const;
        const program = runProgram(early, {}, former);
        expect({ ...(await program.exited), said: program.stderr() }).toMatchObject({ code: 0 });
      });
      expect(await cli(dataDir, ['backup', file], former)).toMatchObject({ code: 0 });

      const refused = runBuilt('main.js', [], { DATA_DIR: dataDir, PORT: '0' });
      expect((await refused.exited).code).not.toBe(0);
      expect(refused.stdout() + refused.stderr()).toContain(TOO_OLD);
      const restored = await cli(join(folder, 'none'), ['restore', file, '--yes']);
      expect(restored.code).not.toBe(0);
      expect(restored.said).toContain(TOO_OLD);
      expect(await readdir(folder)).not.toContain('none');

      const once = await start(dataDir, former);
      await once.end('SIGTERM');
      const present = await start(dataDir);
      const customer = await Customer.of(present, receiver.url);
      await customer.calls(present);
      await present.end('SIGTERM');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
