import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { connectionsFor, createDataSource } from './data-source.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';

const WORKERS = 5;

describe('the embedded server of five workers', () => {
  let dataDir: string;
  let server: EmbeddedPostgres;
  const workers: DataSource[] = [];
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'shim-connections-'));
    await chmod(dataDir, 0o755);
    const settings = { max_connections: String(connectionsFor(WORKERS)) };
    server = await EmbeddedPostgres.start({ dataDir, settings });
    for (let index = 0; index < WORKERS; index += 1)
      workers.push(await createDataSource({ url: server.url }).initialize());
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.destroy()));
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('accepts the connections of all their pools and leases at once, and of an audit', async () => {
    const runners = workers.flatMap((worker) =>
      Array.from({ length: worker.options.poolSize ?? 0 }, () => worker.createQueryRunner()),
    );
    const others = Array.from(
      { length: WORKERS + 1 },
      () => new pg.Client({ connectionString: server.url }),
    );
    try {
      await Promise.all(runners.map((runner) => runner.connect()));
      await Promise.all(others.map((other) => other.connect()));
      const counted = await others[0]?.query<{ open: number }>(
        `SELECT count(*)::int AS open FROM pg_stat_activity WHERE backend_type = 'client backend'`,
      );
      expect(runners.length).toBeGreaterThan(WORKERS);
      expect(counted?.rows[0]?.open).toBe(runners.length + others.length);
    } finally {
      await Promise.all(others.map((other) => other.end().catch(() => undefined)));
      await Promise.all(runners.map((runner) => runner.release()));
    }
  });
});
