import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wavFile } from '../media/wav-file.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';

const PATIENCE_MS = 300_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
/** orval is larger than all of the others together: `npm ci` of the repository does not install it. */
const ORVAL_FOLDER = fileURLToPath(new URL('./orval', import.meta.url));
const ORVAL_INSTALLED = join(MODULES, '.cache/orval');
const ORVAL = join(ORVAL_INSTALLED, 'node_modules/orval/dist/bin/orval.js');
const LOCK = 'package-lock.json';
const PROGRAMS = join(ROOT, 'test/samples/clients');
const OPENAPI_TYPESCRIPT = join(MODULES, 'openapi-typescript/bin/cli.js');
const HEY_API = join(MODULES, '@hey-api/openapi-ts/bin/run.js');
const TYPESCRIPT = join(MODULES, 'typescript/bin/tsc');

/** Ten seconds. */
const RECORDING = 'recording.wav';

const COMPILER = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    strict: true,
    noUncheckedIndexedAccess: true,
    types: ['node'],
    skipLibCheck: true,
    outDir: 'out',
  },
  include: ['*.mts', '*.ts'],
};

const HEY_API_SETTINGS = {
  input: './openapi.json',
  output: { path: './hey-api', importFileExtension: '.js' },
  plugins: ['@hey-api/typescript', '@hey-api/client-fetch', '@hey-api/sdk'],
  logs: { file: false },
};
const ORVAL_SETTINGS = {
  input: { target: './openapi.json' },
  output: {
    target: './orval/shim.ts',
    client: 'fetch',
    mode: 'single',
    override: { mutator: { path: './orval-fetch.ts', name: 'orvalFetch', extension: '.js' } },
  },
};

let gateway: TestGateway;
let account: TestAccount;
let folder: string;

/** Runs a program of a package in the temporary folder and returns its standard output; rejects with what it wrote. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const done = promisify(execFile)(process.execPath, [program, ...args], { cwd: folder });
  const { stdout } = await done.catch((error: unknown) => {
    const { stdout: said, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} failed: ${said}\n${stderr}`);
  });
  return stdout;
}

const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);

/** Installs orval as its lock file says, once for each lock file. */
async function installOrval(): Promise<void> {
  const wanted = await readFile(join(ORVAL_FOLDER, LOCK), 'utf8');
  const done = join(ORVAL_INSTALLED, 'installed');
  if ((await readFile(done, 'utf8').catch(() => '')) === wanted) return;
  await cp(ORVAL_FOLDER, ORVAL_INSTALLED, { recursive: true });
  const options = { cwd: ORVAL_INSTALLED, timeout: PATIENCE_MS };
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit'], options);
  await writeFile(done, wanted);
}

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
  folder = await mkdtemp(join(tmpdir(), 'shim-clients-'));
  await symlink(MODULES, join(folder, 'node_modules'));
  await cp(PROGRAMS, folder, { recursive: true });
  await write('package.json', '{"type":"module"}');
  await write('tsconfig.json', JSON.stringify(COMPILER));
  await writeFile(join(folder, RECORDING), wavFile(80_000));
  const document = await fetch(`${gateway.url}/openapi.json`);
  await write('openapi.json', await document.text());
}, PATIENCE_MS);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await gateway.expectCleanBooks();
  await gateway.stop();
});

describe('clients generated from the served OpenAPI document', () => {
  const CAME_BACK = {
    bytes: expect.any(Number),
    tool: 'get_weather',
    streamed: expect.stringMatching(/\w/),
    status: 'succeeded',
    lyrics: expect.stringMatching(/\w/),
    code: 'model_not_found',
    text: expect.stringMatching(/\w/),
  };

  it(
    'are made by openapi-typescript, @hey-api/openapi-ts and orval without a complaint, and compile strictly',
    async () => {
      await run(OPENAPI_TYPESCRIPT, 'openapi.json', '--output', 'schema.ts');
      await write('hey-api.config.mjs', `export default ${JSON.stringify(HEY_API_SETTINGS)};`);
      await run(HEY_API, '--file', 'hey-api.config.mjs', '--silent');
      await installOrval();
      const shim = JSON.stringify(ORVAL_SETTINGS);
      await write('orval.config.cjs', `module.exports = { shim: ${shim} };`);
      expect(await run(ORVAL, '--config', 'orval.config.cjs')).not.toContain('must ');
      expect(await run(TYPESCRIPT, '--project', '.')).toBe('');
    },
    PATIENCE_MS,
  );

  it.each([
    ['with-openapi-fetch', 2],
    ['with-hey-api', 7],
    ['with-orval', 4],
  ])(
    'speak, chat with a tool, stream, run a task, read an error and upload recordings: %s',
    async (name, uploads) => {
      const program = join(folder, 'out', `${name}.mjs`);
      const printed = await run(program, gateway.url, account.key, RECORDING);
      const cameBack = JSON.parse(printed) as { bytes: number };
      expect(cameBack).toEqual({ ...CAME_BACK, uploads: Array(uploads).fill(200) });
      expect(cameBack.bytes).toBeGreaterThan(1_000);
    },
    PATIENCE_MS,
  );

  it('offer fields with a default as optional', async () => {
    const types = await readFile(join(folder, 'schema.ts'), 'utf8');
    const body = /\n {8}SpeechBody: \{([\s\S]*?)\n {8}\};/.exec(types)?.[1] ?? '';
    expect(body).toMatch(/\n {12}model: string/);
    expect(body).toMatch(/\n {12}response_format\?: "mp3" \| "opus" \| "pcm" \| "wav"/);
  });
});
