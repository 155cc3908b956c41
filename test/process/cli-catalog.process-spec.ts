import { afterAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, runBuilt, temporaryFolder } from '../support/process.js';

afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

async function check(file: string) {
  const settings = { DATA_DIR: join(await temporaryFolder(), 'data'), SECRET_KEY: '' };
  const program = runBuilt('cli.js', ['catalog:check', file], settings);
  const { code } = await program.exited;
  return { code, stdout: program.stdout() };
}

describe('catalog:check', () => {
  it(
    'names every fault of a file and ends with 1, or says what the file changes',
    async () => {
      const file = join(await temporaryFolder(), 'overlay.json');
      const models = [
        { id: 'aud-v3', enabled: false },
        { id: 'x', operation: 'chat' },
      ];
      await writeFile(file, JSON.stringify({ models }));
      const bad = await check(file);
      expect([bad.code, JSON.parse(bad.stdout)]).toEqual([
        1,
        {
          object: 'catalog_check',
          ok: false,
          faults: [
            'models.1: price is required for a new model (model x)',
            'models.1: limits.max_output_tokens is required (model x)',
          ],
        },
      ]);
      await writeFile(file, JSON.stringify({ models: models.slice(0, 1) }));
      expect(JSON.parse((await check(file)).stdout)).toMatchObject({
        ok: true,
        changed: ['aud-v3'],
        disabled: ['aud-v3'],
        faults: [],
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
