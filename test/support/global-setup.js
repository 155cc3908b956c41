import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import build from './built/global-setup.js';
import { SharedGateways } from './shared-gateways.js';

const fromBuild = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);

/**
 * One PostgreSQL per run (`TEST_DATABASE_URL`, or an embedded one in a temporary directory) with a template
 * database that has every migration, and the gateways that test files share. Workers read where they are from `TEST_SERVER_URL`,
 * `TEST_TEMPLATE` and `TEST_GATEWAYS_URL`.
 */
export default async function globalSetup() {
  build();
  const { createDataSource } = await fromBuild('platform/database/data-source.js');
  const { runMigrations } = await fromBuild('platform/database/run-migrations.js');

  const server = await startServer();
  const template = `shim_template_${randomUUID().replaceAll('-', '')}`;
  const admin = createDataSource({ url: server.url, poolSize: 1 });
  const made = [template];
  const urlOf = (name) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  const gateways = await SharedGateways.open(async () => {
    const name = `shim_shared_${made.length}_${template.slice('shim_template_'.length)}`;
    made.push(name);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    return urlOf(name);
  });
  globalThis.testDatabase = {
    async stop() {
      try {
        await gateways.stop();
      } finally {
        const given = process.env.TEST_DATABASE_URL !== undefined && admin.isInitialized;
        for (const name of given ? made : []) await admin.query(`DROP DATABASE IF EXISTS ${name}`);
        if (admin.isInitialized) await admin.destroy();
        await server.stop();
      }
    },
  };
  try {
    await admin.initialize();
    await admin.query(`CREATE DATABASE ${template}`);
    const migrated = await createDataSource({ url: urlOf(template), poolSize: 1 }).initialize();
    await runMigrations(migrated).finally(() => migrated.destroy());
  } catch (error) {
    // Jest runs no teardown after a failed setup.
    await globalThis.testDatabase.stop().catch(() => undefined);
    throw error;
  }
  process.env.TEST_SERVER_URL = server.url;
  process.env.TEST_TEMPLATE = template;
  process.env.TEST_GATEWAYS_URL = gateways.url;
}

async function startServer() {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, stop: () => Promise.resolve() };
  const { EmbeddedPostgres } = await fromBuild('platform/database/embedded/embedded-postgres.js');
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-test-'));
  // As root, the server runs as a user that has to get in.
  await chmod(dataDir, 0o755);
  const server = await EmbeddedPostgres.start({
    dataDir,
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      // Several gateways of each worker have a pool here, and a pool whose server was cut off opens anew before the old ones end.
      max_connections: '200',
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
