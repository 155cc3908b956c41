import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postJson } from '../support/http-answer.js';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  startGatewayProgram,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const [FIRST, SECOND, THIRD] = ['a', 'b', 'c'].map((letter) => letter.repeat(40)) as [
  string,
  string,
  string,
];
const VIDEO = {
  model: 'vid-omni',
  prompt: 'a cat [[sandbox:task-ms=60000]]',
  seconds: '10',
  size: '1280x720',
  webhook: 'http://127.0.0.1:9/hook',
  webhook_secret: 'a-secret-of-the-receiver',
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** Nothing listens where the webhooks go. */
const settings = (secretKey: string) => ({
  DATABASE_URL: database.url,
  SECRET_KEY: secretKey,
  EGRESS_ALLOW: '127.0.0.1:9',
});

async function refused(secretKey: string): Promise<string> {
  const program = runBuilt('main.js', [], { PORT: '0', ...settings(secretKey) });
  expect(await program.exited).toEqual({ code: 1, signal: null });
  return program.stderr();
}

async function command(secretKey: string, ...words: string[]): Promise<unknown> {
  const program = runBuilt('cli.js', words, settings(secretKey));
  expect(await program.exited).toEqual({ code: 0, signal: null });
  return JSON.parse(program.stdout()) as unknown;
}

describe('a gateway whose SECRET_KEY was replaced', () => {
  it(
    'does not start without the old key, until it was sealed anew or forgotten',
    async () => {
      const gateway = await startGatewayProgram(settings(FIRST));
      const { headers } = await gateway.account();
      const answer = await postJson(`${gateway.url}/v1/videos`, headers, VIDEO);
      expect(answer.status).toBe(200);
      await gateway.end('SIGTERM');

      expect(await refused(SECOND)).toMatch(
        /^The configuration is invalid:\n {2}SECRET_KEY: \d secrets? (is|are) sealed with a key that is not in the list\..*secret:forget\.\n$/,
      );
      expect(await command(`${SECOND},${FIRST}`, 'secret:rotate')).toMatchObject({
        sealed_anew: expect.any(Number),
        sealed_with_older_keys: 0,
        unreadable: 0,
        advice: expect.stringContaining('Take the older keys out of SECRET_KEY'),
      });
      await (await startGatewayProgram(settings(SECOND))).end('SIGTERM');

      expect(await refused(THIRD)).toContain('SECRET_KEY');
      const asked = runBuilt('cli.js', ['secret:forget'], settings(THIRD));
      expect(await asked.exited).toEqual({ code: 1, signal: null });
      expect(asked.stdout()).toBe('');
      expect(asked.stderr()).toMatch(
        /^This drops \d+ sealed texts? that no key of SECRET_KEY opens, for ever: .*\nNothing was done: .* --yes .*\n$/,
      );
      expect(await refused(THIRD)).toContain('SECRET_KEY');
      const { dropped } = (await command(THIRD, 'secret:forget', '--yes')) as { dropped: number };
      expect(asked.stderr()).toContain(`This drops ${dropped} sealed text`);
      // There is nothing left to lose, so it does not ask.
      expect(await command(THIRD, 'secret:forget')).toEqual({ dropped: 0 });
      await (await startGatewayProgram(settings(THIRD))).end('SIGTERM');
    },
    PROCESS_TEST_TIMEOUT_MS * 3,
  );
});
