import { afterAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, runBuilt, temporaryFolder } from '../support/process.js';

afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

async function check(file: string, command = 'catalog:check', catalog = '') {
  const dataDir = join(await temporaryFolder(), 'data');
  const settings = { DATA_DIR: dataDir, SECRET_KEY: '', CATALOG_FILE: catalog };
  const program = runBuilt('cli.js', [command, file], settings);
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

describe('vendor:check', () => {
  it(
    'tells which of the models that a file offers have no price in the overlay',
    async () => {
      const catalog = join(await temporaryFolder(), 'overlay.json');
      const price = { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: 100 }] };
      await writeFile(catalog, JSON.stringify({ models: [{ id: 'vid-luma-ray-2', price }] }));
      const models = ['vid-luma-ray-2', 'vid-luma-ray-flash-2'];
      const answer = { object: 'vendor_check', ok: true, faults: [], provider: 'luma', models };
      const told = async (file?: string) => {
        const { code, stdout } = await check('vendors/luma.json', 'vendor:check', file);
        return { code, said: JSON.parse(stdout) as object };
      };
      const priced = { ...answer, without_price: ['vid-luma-ray-flash-2'] };
      expect(await told(catalog)).toEqual({ code: 0, said: priced });
      expect(await told()).toEqual({ code: 0, said: { ...answer, without_price: models } });
      const warnings = ['CATALOG_FILE: /nowhere.json cannot be read (ENOENT)'];
      expect(await told('/nowhere.json')).toEqual({
        code: 0,
        said: { ...answer, without_price: models, warnings },
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'finds no fault in the file of the guide',
    async () => {
      const { code, stdout } = await check('docs/guides/vendors/luma-agents.json', 'vendor:check');
      const told = { ok: true, faults: [], models: ['vid-luma-ray-3'] };
      expect({ code, said: JSON.parse(stdout) as object }).toMatchObject({ code: 0, said: told });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
