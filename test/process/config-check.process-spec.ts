import { afterAll, describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, runBuilt, temporaryFolder } from '../support/process.js';

afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

const SECRET = 'hunter2-hunter2-hunter2-hunter2-hunter2';

async function run(program: 'cli.js' | 'main.js', words: string[], settings: NodeJS.ProcessEnv) {
  const ran = runBuilt(program, words, { SECRET_KEY: '', ...settings });
  const { code } = await ran.exited;
  return { code, stdout: ran.stdout(), stderr: ran.stderr() };
}

describe('the check of the settings', () => {
  it(
    'tells what is set and no secret, and that it is valid',
    async () => {
      const file = join(await temporaryFolder(), 'secret-key');
      await writeFile(file, `${SECRET}\n`);
      const settings = { SECRET_KEY_FILE: file, ADMIN_TOKEN: SECRET, PORT: '4000' };
      const checked = await run('cli.js', ['config:check'], settings);
      expect(checked).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(checked.stdout)).toMatchObject({
        object: 'config_check',
        ok: true,
        faults: [],
        settings: { SECRET_KEY: 'set by SECRET_KEY_FILE', ADMIN_TOKEN: 'set', PORT: '4000' },
      });
      const started = await run('main.js', ['--check'], settings);
      expect(started).toMatchObject({ code: 0, stdout: 'The settings are valid.\n' });
      expect(checked.stdout + started.stderr).not.toContain('hunter2');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'names bad settings, faults of the overlay file, an absent key of a provider and a misspelt name, and ends with 1',
    async () => {
      const file = join(await temporaryFolder(), 'overlay.json');
      const provider = { id: 'mine', protocol: 'openai', base_url: 'http://127.0.0.1:9' };
      await writeFile(
        file,
        JSON.stringify({ providers: [{ ...provider, api_key_env: 'MY_VENDOR_KEY' }] }),
      );
      const settings = { CATALOG_FILE: file, WEBHOOK_TIMEOUT: '5' };
      const absent = await run('main.js', ['--check'], settings);
      expect(absent.code).toBe(1);
      expect(absent.stderr).toContain('MY_VENDOR_KEY: is required by provider mine');
      expect(absent.stderr).toContain('WEBHOOK_TIMEOUT is no setting; WEBHOOK_TIMEOUT_MS is one');
      await writeFile(file, '{"models":[{"id":"x","operation":"chat"}]}');
      const bad = await run('cli.js', ['config:check'], { ...settings, PORT: 'eighty' });
      expect(bad.code).toBe(1);
      const { ok, faults } = JSON.parse(bad.stdout) as { ok: boolean; faults: string[] };
      expect(ok).toBe(false);
      expect(faults).toContainEqual(expect.stringMatching(/^PORT: must be/));
      expect(faults).toContainEqual(expect.stringMatching(/models\.0: price is required/));
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('the program', () => {
  it(
    'answers --version and --help, and refuses another option with 2, starting nothing',
    async () => {
      const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
      expect(await run('main.js', ['--version'], {})).toMatchObject({
        code: 0,
        stdout: `${version}\n`,
      });
      const help = await run('main.js', ['--help'], {});
      expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('--check') });
      const misused = await run('main.js', ['--chekc'], {});
      expect(misused).toMatchObject({ code: 2, stdout: '' });
      expect(misused.stderr).toMatch(/^There is no option "--chekc"\.\nUsage: /);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
