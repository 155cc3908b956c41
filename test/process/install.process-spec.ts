import { afterAll, describe, expect, it } from '@jest/globals';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  runProgram,
  temporaryFolder,
} from '../support/process.js';

const ROOT = new URL('../..', import.meta.url).pathname;

describe('npm ci', () => {
  afterAll(cleanUp);

  it(
    'finds that every package supports the Node.js that runs it',
    async () => {
      const folder = await temporaryFolder();
      for (const file of ['package.json', 'package-lock.json']) {
        await copyFile(join(ROOT, file), join(folder, file));
      }
      // Without a download: the engines are in the lock file.
      const dryRun = ['ci', '--dry-run', '--offline', '--no-audit', '--prefix', folder];
      const npm = runProgram(['npm', ...dryRun]);
      expect(await npm.exited).toEqual({ code: 0, signal: null });
      expect(npm.stderr()).not.toContain('EBADENGINE');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
