import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { type Gateway, startGateway } from '../../src/boot/start-gateway.js';
import { ApiKeysService, type KeyTerms } from '../../src/auth/api-keys.service.js';
import { Accounts } from '../../src/billing/accounts/accounts.js';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { loadCatalog } from '../../src/catalog/catalog-file.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../src/platform/config/gateway-config.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { sandboxScope } from '../../src/platform/config/sandbox-scope.js';
import type { RecordedRequest } from '../../src/sandbox/http/recorder.js';
import { fatalLogger, refuseFatal } from './fatal-lines.js';
import { createTestDatabase } from './test-database.js';

/** The operator's token in tests. */
export const ADMIN_TOKEN = 'test-admin-token-0123456789';
/** Calls of clients that left end within this time. So do tasks after a worker lost its 30 s lease. */
const OUTLIVING_MS = 45_000;
const START_CREDIT = 1_000_000_000n;

/** An account with a key, created directly with the services. */
export interface TestAccount {
  readonly accountId: string;
  readonly key: string;
  readonly headers: { authorization: string };
}

/** A whole gateway on a database of its own, with the sandbox upstream, listening on a free port. */
export interface TestGateway extends Gateway {
  readonly dataSource: DataSource;
  readonly config: GatewayConfig;
  /** A fresh account with `credit` micro-USD and one key: of play money where the sandbox serves every provider. */
  account(credit?: bigint, terms?: Partial<KeyTerms>): Promise<TestAccount>;
  /** Another key of an account. */
  keyOf(accountId: string, terms?: Partial<KeyTerms>): Promise<string>;
  /** Available and held micro-USD. */
  balance(accountId: string): Promise<{ available: bigint; held: bigint; entries: number }>;
  /** What the upstream received, newest first. */
  upstreamRequests(): Promise<RecordedRequest[]>;
  /** Proves the books and that no hold is open. */
  expectCleanBooks(): Promise<void>;
}

const TERMS: KeyTerms = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
};

/** Settings as in the environment, which may depend on where the database is. */
type Settings = NodeJS.ProcessEnv | ((databaseUrl: string) => NodeJS.ProcessEnv);

function scopeOf(environment: NodeJS.ProcessEnv): ReturnType<typeof sandboxScope> {
  const config = loadConfig(environment);
  return sandboxScope(config, loadCatalog(config.catalogFile));
}

/** Starts one; call `stop` in `afterAll`, which throws if the log has a fatal line. */
export async function startTestGateway(settings: Settings = {}): Promise<TestGateway> {
  const database = await createTestDatabase();
  const environment = {
    PORT: '0',
    DATABASE_URL: database.url,
    SECRET_KEY: 'a-secret-key-for-tests-only-0123456789',
    DATA_DIR: mkdtempSync(join(tmpdir(), 'shim-data-')),
    ADMIN_TOKEN,
    RATE_LIMIT_RPM: '0',
    // A slow machine is no overload.
    MAX_WAITING_REQUESTS: '0',
    // Tests leave calls open that never end.
    DRAIN_TIMEOUT_MS: '20000',
    SANDBOX: 'on',
    ...(typeof settings === 'function' ? settings(database.url) : settings),
  };
  const isMixed = scopeOf(environment) !== 'all';
  // Beside a provider, the same account buys its work and the sandbox's.
  const config = loadConfig({ SANDBOX_CHARGES: isMixed ? 'on' : 'off', ...environment });
  const { logger, fatal } = fatalLogger();
  const gateway = await startGateway(config, logger);
  const accounts = gateway.app.get(Accounts);
  const ledger = gateway.app.get(LedgerService);
  const keys = gateway.app.get(ApiKeysService, { strict: false });
  const keyOf = async (accountId: string, terms: Partial<KeyTerms> = {}) =>
    (await keys.issue(accountId, { ...TERMS, ...terms })).key;
  return {
    ...gateway,
    dataSource: database.dataSource,
    config: gateway.app.get<GatewayConfig>(GATEWAY_CONFIG),
    keyOf,
    async account(credit = START_CREDIT, terms = {}) {
      const { id } = await accounts.create('test', gateway.isSandboxed ? 'play' : 'real');
      if (credit > 0n) {
        await ledger.credit({
          accountId: id,
          amountMicroUsd: credit,
          idempotencyKey: 'start',
          reference: null,
        });
      }
      const key = await keyOf(id, terms);
      return { accountId: id, key, headers: { authorization: `Bearer ${key}` } };
    },
    async balance(accountId) {
      const account = await accounts.get(accountId);
      const { items } = await ledger.entries(accountId, { limit: 100 });
      return {
        available: account.availableMicroUsd,
        held: account.heldMicroUsd,
        entries: items.length,
      };
    },
    upstreamRequests: () => gateway.sandbox?.requests(100) ?? Promise.resolve([]),
    async expectCleanBooks() {
      // A call may outlive its client: the provider is read to its end.
      const giveUpAt = performance.now() + OUTLIVING_MS;
      for (;;) {
        const report = await auditLedger(database.dataSource);
        if (report.ok && report.heldMicroUsd === 0n) return;
        if (!report.ok || performance.now() > giveUpAt) {
          throw new Error(
            `the books are off: ${JSON.stringify(report, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))}`,
          );
        }
        await sleep(100);
      }
    },
    async stop() {
      await gateway.stop();
      await database.drop();
      refuseFatal(fatal);
    },
  };
}
