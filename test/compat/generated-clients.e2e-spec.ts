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

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
  folder = await mkdtemp(join(tmpdir(), 'shim-clients-'));
  await symlink(MODULES, join(folder, 'node_modules'));
  await cp(PROGRAMS, folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(COMPILER));
  await writeFile(join(folder, RECORDING), wavFile(80_000));
  const document = await fetch(`${gateway.url}/openapi.json`);
  await writeFile(join(folder, 'openapi.json'), await document.text());
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
    status: 'succeeded',
    code: 'model_not_found',
    text: expect.stringMatching(/\w/),
  };

  it(
    'are made by openapi-typescript and @hey-api/openapi-ts and compile strictly',
    async () => {
      await run(OPENAPI_TYPESCRIPT, 'openapi.json', '--output', 'schema.ts');
      const plugins = ['@hey-api/typescript', '@hey-api/client-fetch', '@hey-api/sdk'];
      const output = { path: './hey-api', importFileExtension: '.js' };
      const settings = { input: './openapi.json', output, plugins, logs: { file: false } };
      await writeFile(
        join(folder, 'hey-api.config.mjs'),
        `export default ${JSON.stringify(settings)};`,
      );
      await run(HEY_API, '--file', 'hey-api.config.mjs', '--silent');
      expect(await run(TYPESCRIPT, '--project', '.')).toBe('');
    },
    PATIENCE_MS,
  );

  it.each([
    ['with-openapi-fetch', 2],
    ['with-hey-api', 7],
  ])(
    'speak, chat with a tool, run a task, read an error and upload recordings: %s',
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
