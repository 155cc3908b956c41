import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDataSource } from '../../src/database/data-source.js';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres.js';
import { runMigrations } from '../../src/database/run-migrations.js';
import { crashRun } from './crash-run.js';

/** 200 kills, four processes at a time, with an outage of the database in every fifth round, on a PostgreSQL with every flush on; the result goes to bench/results/crash.json. */
const ROUNDS = 50;
const PROCESSES = 4;
const OUTAGE_EVERY = 5;
const RESULT = fileURLToPath(new URL('../../bench/results/crash.json', import.meta.url));

const dataDir = await mkdtemp(join(tmpdir(), 'shim-crash-'));
// As root, the server runs as another user, which needs access.
await chmod(dataDir, 0o755);
const server = await EmbeddedPostgres.start({ dataDir });
const dataSource = await createDataSource({ url: server.url }).initialize();
try {
  await runMigrations(dataSource);
  const result = await crashRun({
    url: server.url,
    dataSource,
    rounds: ROUNDS,
    processes: PROCESSES,
    outageEvery: OUTAGE_EVERY,
  });
  const text = `${JSON.stringify(result, null, 2)}\n`;
  await mkdir(dirname(RESULT), { recursive: true });
  await writeFile(RESULT, text);
  process.stdout.write(text);
  const clean =
    result.lost + result.doubled + result.holdsLeftOpen === 0 && result.audit === 'exact';
  process.exitCode = clean ? 0 : 1;
} finally {
  await dataSource.destroy();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
