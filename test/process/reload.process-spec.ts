import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const CLOSE = { connection: 'close' };
const INPUT = '[[sandbox:instant]]Hello';
const CHARACTERS = INPUT.length;

let database: TestDatabase;
let gateway: GatewayProgram;
let file: string;

const priced = (microUsd: number) =>
  JSON.stringify({
    models: [{ id: 'aud-v3', price: { unit: 'code_point', micro_usd: microUsd } }],
  });

beforeAll(async () => {
  database = await createTestDatabase();
  file = join(await temporaryFolder(), 'catalog.json');
  await writeFile(file, priced(7));
  gateway = await startGatewayProgram({
    DATABASE_URL: database.url,
    CATALOG_FILE: file,
    WORKERS: '2',
  });
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
});

const linesWith = (text: string) =>
  gateway
    .stdout()
    .split('\n')
    .filter((line) => line.includes(text)).length;

describe('SIGHUP', () => {
  it(
    'makes every worker read CATALOG_FILE anew; a file that does not fit changes nothing',
    async () => {
      const { headers } = await gateway.account();
      const charges = async (): Promise<string[]> => {
        const seen = new Set<string>();
        for (let call = 0; call < 8; call += 1) {
          const body = { model: 'aud-v3', input: INPUT, voice: 'Adam' };
          const answer = await postJson(
            `${gateway.url}/v1/audio/speech`,
            { ...headers, ...CLOSE },
            body,
          );
          seen.add(String(answer.headers.get('x-gateway-charge-microusd')));
        }
        return [...seen];
      };
      expect(await charges()).toEqual([String(7 * CHARACTERS)]);

      await writeFile(file, priced(11));
      gateway.child.kill('SIGHUP');
      await until(() => linesWith('the catalog was read anew') === 2);
      expect(await charges()).toEqual([String(11 * CHARACTERS)]);

      await writeFile(file, '{"models":[{"id":"aud-v3","price":{"unit":"second"}}]}');
      gateway.child.kill('SIGHUP');
      await until(() => linesWith('CATALOG_FILE does not fit; nothing was changed') === 2);
      // The reason is a sentence; a stack tells an operator nothing.
      expect(linesWith('nothing was changed. CATALOG_FILE: models')).toBe(2);
      expect(linesWith('ConfigError')).toBe(0);
      expect(await charges()).toEqual([String(11 * CHARACTERS)]);
      expect((await send(`${gateway.url}/health/ready`)).status).toBe(200);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
