import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Loads a module of `src` as it is now, without a build. */
const fromSource = (path) => import(new URL(`../../src/${path}`, import.meta.url).href);

/**
 * One PostgreSQL per run (`TEST_DATABASE_URL`, or an embedded one in a temporary directory) with a template
 * database that has every migration. Workers read where it is from `TEST_SERVER_URL` and `TEST_TEMPLATE`.
 */
export default async function globalSetup() {
  register('@swc-node/register/esm', import.meta.url);
  const { createDataSource } = await fromSource('database/data-source.ts');
  const { runMigrations } = await fromSource('database/run-migrations.ts');

  const server = await startServer();
  const template = `shim_template_${randomUUID().replaceAll('-', '')}`;
  const admin = createDataSource({ url: server.url, poolSize: 1 });
  globalThis.testDatabase = {
    async stop() {
      if (process.env.TEST_DATABASE_URL) await admin.query(`DROP DATABASE IF EXISTS ${template}`);
      if (admin.isInitialized) await admin.destroy();
      await server.stop();
    },
  };
  try {
    await admin.initialize();
    await admin.query(`CREATE DATABASE ${template}`);
    const url = new URL(server.url);
    url.pathname = `/${template}`;
    const migrated = await createDataSource({ url: url.href, poolSize: 1 }).initialize();
    await runMigrations(migrated).finally(() => migrated.destroy());
  } catch (error) {
    // Jest runs no teardown after a failed setup.
    await globalThis.testDatabase.stop().catch(() => undefined);
    throw error;
  }
  process.env.TEST_SERVER_URL = server.url;
  process.env.TEST_TEMPLATE = template;
}

async function startServer() {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, stop: () => Promise.resolve() };
  const { EmbeddedPostgres } = await fromSource('database/embedded/embedded-postgres.ts');
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-test-'));
  // As root, the server runs as a user that has to get in.
  await chmod(dataDir, 0o755);
  const server = await EmbeddedPostgres.start({
    dataDir,
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      // What the sessions of the gateway set for themselves is not left to the server.
      jit: 'on',
      timezone: 'Asia/Kathmandu',
    },
  });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
