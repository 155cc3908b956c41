import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runProgram,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = [
  'README.md',
  'docs/guides/dubbing.md',
  'docs/guides/keys.md',
  'docs/guides/songs.md',
  'docs/guides/tunes.md',
  'docs/guides/videos.md',
  'docs/reference/api/account-and-models.md',
  'docs/reference/api/embeddings.md',
  'docs/reference/api/responses.md',
] as const;
/** Files that the pages make, with the bytes by which their formats are known. */
const MADE = [
  ['hello.mp3', 0, /^(ID3|\xff[\xe0-\xff])/],
  ['dubbed-fr.mp3', 0, /^(ID3|\xff[\xe0-\xff])/],
  ['bass.wav', 8, /^WAVE/],
  ['waltz.mp4', 4, /^ftyp/],
  ['dunes.mp4', 4, /^ftyp/],
] as const;
/** Addresses that the pages name. */
const GATEWAY_URL = 'http://127.0.0.1:3000';
const OWN_FILES = '127.0.0.1:9000';
/** Install, start, or run what other tests run; `export` is done by this one. */
const RUN_ELSEWHERE =
  /^(export |npm ci|EGRESS_ALLOW=\S+ npm start|python3 -m http\.server|npm run (jest|verify|conformance|test:\w+)\b)/;
const ID = /\b(?:acct|task|exec|resp)_[0-9a-f]{32}\b/g;

/** The commands of the page's shell blocks, each with its following lines. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks
    .join('')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '');
}

describe('the commands that the documents show', () => {
  let folder: string;
  let gateway: GatewayProgram;
  let filesPort: string;
  let key: string;
  /** The key of the last `key:create`: what a page exports as MANAGER. */
  let manager = '';
  /** The last id of each kind that a command printed: what a reader puts where the page says `task_…`. */
  const ids = new Map<string, string>();

  /** Runs a command as a reader in the folder would, with `npm` in the repository. */
  const run = async (command: string) => {
    const filled = command
      .replaceAll(GATEWAY_URL, gateway.url)
      .replaceAll(OWN_FILES, `127.0.0.1:${filesPort}`)
      .replace(/\b(acct|task|exec|resp)_…/g, (_all, kind: string) => ids.get(kind) ?? 'none');
    const shell = [
      `cd ${folder}`,
      'curl() { command curl --silent --show-error --fail-with-body "$@"; }',
      `npm() { (cd ${ROOT} && command npm "$@"); }`,
      `npx() { (cd ${ROOT} && command npx "$@"); }`,
      filled,
    ];
    const settings = { KEY: key, MANAGER: manager, DATA_DIR: join(folder, 'data') };
    const program = runProgram(['sh', '-c', shell.join('\n')], settings);
    const { code } = await program.exited;
    if (command.includes('key:create'))
      manager = /"key": "(sk-\w+)"/.exec(program.stdout())?.[1] ?? manager;
    const head = await readFile(join(folder, 'head.txt'), 'utf8').catch(() => '');
    for (const [id] of `${head}${program.stdout()}`.matchAll(ID)) ids.set(id.slice(0, 4), id);
    return { code, said: program.stdout() + program.stderr() };
  };

  beforeAll(async () => {
    folder = await temporaryFolder();
    filesPort = String(await freePort());
    const files = `python3 -m http.server ${filesPort} --bind 127.0.0.1 --directory ${folder}`;
    runProgram(['sh', '-c', `exec ${files}`]);
    gateway = await startGatewayProgram({
      DATA_DIR: join(folder, 'data'),
      SECRET_KEY: '',
      EGRESS_ALLOW: `127.0.0.1:${filesPort}`,
      TASK_POLL_INTERVAL_MS: '200',
    });
    await until(() => gateway.stdout().includes('/v1/models'));
    key = /sk-[0-9A-Za-z]+/.exec(gateway.stdout())?.[0] ?? '';
  }, PROCESS_TEST_TIMEOUT_MS);
  afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

  it.each(PAGES)(
    'work one after the other as they stand: %s',
    async (page) => {
      const commands = commandsOf(page).filter((command) => !RUN_ELSEWHERE.test(command));
      expect(commands.length).toBeGreaterThan(0);
      for (const command of commands) {
        expect({ command, ...(await run(command)) }).toMatchObject({ command, code: 0 });
      }
    },
    PROCESS_TEST_TIMEOUT_MS * 3,
  );

  it('leave what the pages promise', async () => {
    const head = await readFile(join(folder, 'head.txt'), 'utf8');
    expect(head).toContain('x-gateway-charge-microusd: 1920');
    for (const [name, from, mark] of MADE) {
      const bytes = await readFile(join(folder, name));
      expect(bytes.length).toBeGreaterThan(1_000);
      expect(bytes.toString('latin1', from, from + 4)).toMatch(mark);
    }
  });

  it('name scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: object;
    };
    const named = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/npm run ([\w:]+)/g)];
    expect(named.length).toBeGreaterThan(5);
    for (const [, script = ''] of named) expect(scripts).toHaveProperty([script]);
  });

  it('stand on a first page of at most 160 lines', () => {
    const lines = readFileSync(join(ROOT, 'README.md'), 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(160);
  });
});
