import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What the image has beside the packages. */
const COPIED = ['dist', 'scripts', 'package.json', 'vendors'];
/** Packages are found in the folder with the links, not where a link leads. */
const NODE_OPTIONS = '--preserve-symlinks --preserve-symlinks-main';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: true; readonly optional?: true }>>;
}

/** A folder with what `docker build --target slim` puts into the image: no package that is optional, none for development, no TypeScript. */
async function slimFolder(): Promise<string> {
  const folder = await temporaryFolder();
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const kept = Object.entries(packages).filter(
    ([path, { dev, optional }]) =>
      /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) &&
      !dev &&
      !optional &&
      !path.endsWith('/typescript'),
  );
  for (const path of [...COPIED, ...kept.map(([name]) => name)]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(ROOT, path), join(folder, path));
  }
  return folder;
}

describe('the slim image', () => {
  let database: TestDatabase;
  let root: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    root = await slimFolder();
  });
  afterAll(async () => {
    await cleanUp();
    await database.drop();
  });

  it(
    'serves a paid call with a database of its own',
    async () => {
      const settings = { DATABASE_URL: database.url, NODE_OPTIONS };
      const gateway = await startGatewayProgram(settings, { root });
      const { headers } = await gateway.account();
      const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO);
      expect(answer.status).toBe(200);
      expect(answer.bytes.length).toBeGreaterThan(1_000);
      expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'says that it has no embedded database where DATABASE_URL is missing',
    async () => {
      const settings = { DATA_DIR: await temporaryFolder(), SECRET_KEY, PORT: '0', NODE_OPTIONS };
      const program = runBuilt('main.js', [], settings, { root, mayLogFatal: true });
      expect((await program.exited).code).toBe(1);
      expect(program.stdout() + program.stderr()).toContain('DATABASE_URL');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
