import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { type Gateway, startGateway } from '../../src/bootstrap/start-gateway.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';

/** Of the operator who is signed in. */
export const SHOTS_TOKEN = 'shots-admin-token-0123456789';

const route = (provider: string, upstream_model: string, cost: object) => ({
  provider,
  upstream_model,
  cost,
});
/** What work costs at its provider, so that there is a margin, and a second route for one model. */
const OVERLAY = {
  models: [
    {
      id: 'gen-5',
      routes: [
        route('openai', 'gpt-5', {
          unit: 'token',
          input_micro_usd_per_million: 1_000_000,
          output_micro_usd_per_million: 8_000_000,
        }),
        route('openai', 'gpt-5-2025-08-07', {
          unit: 'token',
          input_micro_usd_per_million: 1_100_000,
          output_micro_usd_per_million: 8_800_000,
        }),
      ],
    },
    {
      id: 'gen-5-mini',
      routes: [
        route('openai', 'gpt-5-mini', {
          unit: 'token',
          input_micro_usd_per_million: 200_000,
          output_micro_usd_per_million: 1_600_000,
        }),
      ],
    },
    {
      id: 'aud-v4',
      routes: [route('elevenlabs', 'eleven_v4', { unit: 'code_point', micro_usd: 90 })],
    },
    // Sold below its cost.
    {
      id: 'aud-flash-v2.5',
      routes: [route('elevenlabs', 'eleven_flash_v2_5', { unit: 'code_point', micro_usd: 66 })],
    },
    {
      id: 'gen-image-2',
      routes: [route('openai', 'gpt-image-2', { unit: 'request', micro_usd: 7_200 })],
    },
    {
      id: 'song-music',
      routes: [route('ttapi', 'suno/music', { unit: 'request', micro_usd: 52_000 })],
    },
  ],
};

/** A gateway on a database and in a folder of its own, which are gone when it stops. */
export interface ShotsGateway {
  readonly url: string;
  readonly app: Gateway['app'];
  readonly dataSource: DataSource;
  stop(): Promise<void>;
}

/** Starts one with the sandbox for every provider. @param egressAllow the receivers of webhooks that it may reach */
export async function startShotsGateway(egressAllow: string): Promise<ShotsGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-shots-'));
  // As root, the server runs as a user that has to get in.
  await chmod(dataDir, 0o755);
  const catalogFile = join(dataDir, 'catalog.json');
  await writeFile(catalogFile, JSON.stringify(OVERLAY));
  const server = await EmbeddedPostgres.start({ dataDir, settings: { fsync: 'off' } });
  const dataSource = await createDataSource({ url: server.url, poolSize: 2 }).initialize();
  const settings = {
    PORT: '0',
    DATABASE_URL: server.url,
    DATA_DIR: join(dataDir, 'files'),
    CATALOG_FILE: catalogFile,
    SECRET_KEY: 'a-secret-key-for-the-shots-0123456789',
    ADMIN_TOKEN: SHOTS_TOKEN,
    SANDBOX: 'on',
    EGRESS_ALLOW: egressAllow,
    TOPUP_URL: 'https://pay.example/{account}',
    RATE_LIMIT_RPM: '0',
    MAX_WAITING_REQUESTS: '0',
    DRAIN_TIMEOUT_MS: '1000',
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '50',
    WEBHOOK_RETRY_DELAYS_MS: '100,600000',
  };
  const gateway = await startGateway(loadConfig(settings), pino({ level: 'silent' }));
  return {
    url: gateway.url,
    app: gateway.app,
    dataSource,
    async stop() {
      await gateway.stop();
      await dataSource.destroy();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
