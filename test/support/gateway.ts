import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gateway, startGateway } from '../../src/bootstrap/start-gateway.js';
import { loadCatalog } from '../../src/catalog/catalog-file.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../src/platform/config/gateway-config.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { sandboxScope } from '../../src/providers/sandboxed.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { fatalLogger, refuseFatal } from './fatal-lines.js';
import { GatewayAccounts } from './gateway-accounts.js';
import { type GatewayFromOutside, REMEMBERED_REQUESTS } from './shared-gateway.js';
import { createTestDatabase } from './test-database.js';

/** The operator's token in tests. */
export const ADMIN_TOKEN = 'test-admin-token-0123456789';

export type { TestAccount } from './gateway-accounts.js';

/** A whole gateway of this file's own in this process, on a database of its own, listening on a free port. */
export interface TestGateway extends Gateway, GatewayFromOutside {
  readonly config: GatewayConfig;
  /** Proves the books and that no hold is open. */
  expectCleanBooks(): Promise<void>;
  stop(): Promise<void>;
}

/** Settings as in the environment, which may depend on where the database is. */
type Settings = NodeJS.ProcessEnv | ((databaseUrl: string) => NodeJS.ProcessEnv);

function scopeOf(environment: NodeJS.ProcessEnv): ReturnType<typeof sandboxScope> {
  const config = loadConfig(environment);
  return sandboxScope(config, loadCatalog(config.catalogFile, config.vendorsDir));
}

/**
 * Starts one; call `stop` in `afterAll`, which throws if the log has a fatal line. A file that needs no settings and no services of
 * its own takes {@link sharedGateway}.
 */
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
  const scope = scopeOf(environment);
  // Beside a provider, the same account buys its work and the sandbox's.
  const config = loadConfig({ SANDBOX_CHARGES: scope === 'all' ? 'off' : 'on', ...environment });
  const { logger, fatal } = fatalLogger();
  // A thread would evaluate the modules of the sandbox anew for each gateway.
  const sandbox = scope === 'none' ? undefined : await startSandbox({ ownThread: false });
  const gateway = await startGateway(config, logger, { shared: sandbox }).catch(
    async (error: unknown) => {
      await sandbox?.close();
      throw error;
    },
  );
  const accounts = new GatewayAccounts(database.dataSource, gateway.isSandboxed);
  return {
    ...gateway,
    sandbox,
    dataSource: database.dataSource,
    config: gateway.app.get<GatewayConfig>(GATEWAY_CONFIG),
    account: (credit, terms) => accounts.make(credit, terms),
    keyOf: (accountId, terms) => accounts.keyOf(accountId, terms),
    balance: (accountId) => accounts.balance(accountId),
    upstreamRequests: () => sandbox?.requests(REMEMBERED_REQUESTS) ?? Promise.resolve([]),
    upstreamCounts: async () => (await sandbox?.stats())?.requests ?? {},
    expectCleanBooks: () => accounts.expectCleanBooks('all'),
    async stop() {
      await gateway.stop();
      await sandbox?.close();
      await database.drop();
      refuseFatal(fatal);
    },
  };
}
