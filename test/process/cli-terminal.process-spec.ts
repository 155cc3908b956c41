import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, runBuilt } from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const { PATH, HOME } = process.env;
const QUESTION = 'Do it? (y/N) ';
const PROGRAM = join(import.meta.dirname, '../../dist/cli.js');

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

async function cli(...args: string[]): Promise<Record<string, unknown>> {
  const program = runBuilt('cli.js', args, { DATABASE_URL: database.url });
  const { code } = await program.exited;
  expect({ code, stderr: program.stderr() }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(program.stdout()) as Record<string, unknown>;
}

/** Runs a command on a terminal of its own, where this is typed once it asks. */
async function onTerminal(typed: string, ...args: string[]) {
  const command = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(' ');
  // util-linux makes the terminal.
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH, HOME, DATABASE_URL: database.url, TERM: 'dumb' },
    stdio: 'pipe',
    timeout: PROCESS_TEST_TIMEOUT_MS,
  });
  let shown = '';
  let isAsked = false;
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', (bytes: Buffer) => {
    shown += bytes.toString();
    if (isAsked || !shown.includes(QUESTION)) return;
    isAsked = true;
    child.stdin.write(`${typed}\n`);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, shown, isAsked };
}

async function key(): Promise<string> {
  const { id: account } = await cli('account:create', 'a');
  return String((await cli('key:create', String(account))).id);
}
const isRevoked = async (id: string) => (await cli('key', id)).revoked_at !== null;

describe('a command that cannot be undone, on a terminal', () => {
  it(
    'says what it will do, asks, and does it for y alone',
    async () => {
      const id = await key();
      const refused = await onTerminal('n', 'key:revoke', id);
      expect(refused).toMatchObject({ code: 1, isAsked: true });
      expect(refused.shown).toMatch(/This revokes key key_\w+ .*Nothing was done\./s);
      expect(await isRevoked(id)).toBe(false);
      const agreed = await onTerminal('y', 'key:revoke', id);
      expect(agreed).toMatchObject({ code: 0, isAsked: true });
      expect(await isRevoked(id)).toBe(true);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'does not ask where --yes is there',
    async () => {
      const id = await key();
      expect(await onTerminal('n', 'key:revoke', id, '--yes')).toMatchObject({
        code: 0,
        isAsked: false,
      });
      expect(await isRevoked(id)).toBe(true);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
