import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Database } from '../src/platform/database/database.js';
import { dumpSchema } from '../test/support/schema-dump.js';

const FILE = new URL('../src/platform/database/schema.sql', import.meta.url);

/** `npm run schema`: writes what the schema files make, as the catalogs of a new database tell it, to `src/platform/database/schema.sql`. */
Logger.overrideLogger(false);
const dataDir = await mkdtemp(join(tmpdir(), 'shim-schema-'));
// As root, the server runs as a user that has to get in.
await chmod(dataDir, 0o755);
const database = new Database({ databaseUrl: undefined, dataDir });
try {
  await writeFile(FILE, await dumpSchema(await database.open()));
} finally {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}
