import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { ApiKeysService } from '../../../src/auth/api-keys.service.js';
import { auditLedger } from '../../../src/billing/audit.js';
import { Accounts } from '../../../src/billing/accounts.js';
import { LedgerService } from '../../../src/billing/ledger.service.js';
import { startGateway } from '../../../src/boot/start-gateway.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { createDataSource } from '../../../src/database/data-source.js';
import { EmbeddedPostgres } from '../../../src/database/embedded/embedded-postgres.js';
import { fuzzRun, fuzzWorld } from './fuzz-run.js';

/** What a run may cost beyond having no violation. */
const MAX_RSS_GROWTH_MB = 150;
const MAX_STALL_MS = 250;
const SETTLE_MS = 3_000;
const ADMIN_TOKEN = 'admin-token-for-fuzzing-0123456789';
const CREDIT = 1_000_000_000_000n;
const TERMS = { name: null, allowedModels: null, expiresAt: null, requestsPerMinute: null };

const { values } = parseArgs({
  options: { count: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
});
const dataDir = await mkdtemp(join(tmpdir(), 'shim-fuzz-'));
// As root, the database server runs as another user, which needs access.
await chmod(dataDir, 0o755);
const server = await EmbeddedPostgres.start({ dataDir });
const config = loadConfig({
  PORT: '0',
  DATABASE_URL: server.url,
  SECRET_KEY: 'a-secret-key-for-fuzzing-only-0123456789',
  DATA_DIR: dataDir,
  RATE_LIMIT_RPM: '0',
  SANDBOX: 'on',
  ADMIN_TOKEN,
  TRUST_PROXY: '127.0.0.0/8',
  TASK_POLL_INTERVAL_MS: '1000',
});
const gateway = await startGateway(config, pino({ level: 'silent' }));
const dataSource = await createDataSource({ url: server.url }).initialize();
try {
  const ledger = gateway.app.get(LedgerService, { strict: false });
  const accounts = gateway.app.get(Accounts, { strict: false });
  const service = gateway.app.get(ApiKeysService, { strict: false });
  const keys: string[] = [];
  for (const amountMicroUsd of [CREDIT, CREDIT, CREDIT, undefined]) {
    const { id: accountId } = await accounts.create('fuzz');
    const credit = { accountId, idempotencyKey: 'start', reference: null };
    if (amountMicroUsd !== undefined) await ledger.credit({ ...credit, amountMicroUsd });
    keys.push((await service.issue(accountId, TERMS)).key);
  }
  const [count, seed] = [Number(values.count), Number(values.seed)];
  const [ownKey = '', ...others] = keys;
  const world = await fuzzWorld(gateway.url, ownKey, ADMIN_TOKEN);
  const report = await fuzzRun({ url: gateway.url, world, keys: others, count, seed });
  await sleep(SETTLE_MS);
  const filesLeft = (await readdir(join(dataDir, 'uploads', String(process.pid)))).length;
  const { ok } = await auditLedger(dataSource);
  process.stdout.write(`${JSON.stringify({ ...report, filesLeft, audit: ok }, null, 2)}\n`);
  const isCheap = report.rssGrowthMb <= MAX_RSS_GROWTH_MB && report.worstStallMs <= MAX_STALL_MS;
  process.exitCode = report.violations.length + filesLeft === 0 && ok && isCheap ? 0 : 1;
} finally {
  await dataSource.destroy();
  await gateway.stop();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
