import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  temporaryFolder,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const SECRET = 'a-secret-of-16-or-more';
/** Nothing listens there. */
const RECEIVER = '127.0.0.1:9';

let database: TestDatabase;
let account: string;
let secretFile: string;

beforeAll(async () => {
  database = await createTestDatabase();
  secretFile = join(await temporaryFolder(), 'secret.txt');
  writeFileSync(secretFile, `${SECRET}\n`);
  account = (await answerOf('account:create', 'Acme')).id;
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await database.drop();
  await cleanUp();
}, PROCESS_TEST_TIMEOUT_MS);

async function cli(...args: string[]) {
  const settings = { DATABASE_URL: database.url, SECRET_KEY, EGRESS_ALLOW: RECEIVER };
  const program = runBuilt('cli.js', args, settings);
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}
async function answerOf(...args: string[]): Promise<{ id: string }> {
  const { code, stdout, stderr } = await cli(...args);
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as { id: string };
}
async function refusalOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(...args);
  expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
  return stderr.trim();
}

describe('account:credit', () => {
  it(
    'takes kind, end, payment reference, currency and tax of a credit, and shows them',
    async () => {
      const end = '2099-12-31';
      const terms = ['--credit-kind', 'granted', '--expires-at', end, '--currency', 'EUR'];
      const payment = ['--payment-reference', 'invoice 17', '--tax-usd', '0.80'];
      expect(
        await answerOf('account:credit', 'Acme', '--usd', '5.00', ...terms, ...payment),
      ).toMatchObject({
        amount_microusd: '5000000',
        granted_microusd: '5000000',
        credit_kind: 'granted',
        expires_at: 4_102_358_400,
        payment_reference: 'invoice 17',
        currency: 'EUR',
        tax_microusd: '800000',
      });
      const paid = ['account:credit', 'Acme', '1000000', '--tax-microusd', '1000000'];
      expect(await answerOf(...paid)).toMatchObject({
        credit_kind: 'paid',
        expires_at: null,
        tax_microusd: '1000000',
      });
      expect(await answerOf('account', 'Acme')).toMatchObject({
        available_microusd: '6000000',
        credits: [
          { credit_kind: 'granted', remaining_microusd: '5000000', expires_at: 4_102_358_400 },
          { credit_kind: 'paid', remaining_microusd: '1000000', expires_at: null },
        ],
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each([
    [['--usd', '1', '--tax-usd', '1.000001'], /^tax_microusd must be at most amount_microusd/],
    [['--usd', '1', '--tax-usd', '0.5', '--tax-microusd', '5'], /^Use --tax-microusd or --tax-usd/],
  ])(
    'refuses %j and moves nothing',
    async (options, reason) => {
      expect(await refusalOf('account:credit', 'Acme', ...options)).toMatch(reason);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('marks of a low balance', () => {
  it(
    'are set and cleared, and accounts that run dry are listed',
    async () => {
      const mark = (...options: string[]) => answerOf('account:update', 'Acme', ...options);
      const low = await mark('--low-balance-usd', '2.50');
      expect(low).toMatchObject({ low_balance_microusd: '2500000' });
      expect(await mark('--low-balance-microusd', '7')).toMatchObject({
        low_balance_microusd: '7',
      });
      expect(await mark('--clear', 'low-balance-microusd')).toMatchObject({
        low_balance_microusd: null,
      });
      await answerOf('account:create', 'Dry');
      const dry = ['accounts', '--available-below-usd', '1', '--sort', 'available'];
      expect(await answerOf(...dry)).toMatchObject({ data: [{ name: 'Dry' }] });
      const all = await answerOf('accounts', '--available-below', '9000000', '--sort', 'available');
      expect(all).toMatchObject({ data: [{ name: 'Dry' }, { name: 'Acme' }] });
      expect(await refusalOf('accounts', '--available-below', '-1')).toMatch(/^available_below/);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('the endpoints of an account', () => {
  it(
    'are made with a secret from a file, listed, tested and deleted, and their deliveries found',
    async () => {
      const url = `http://${RECEIVER}/hook?token=canary`;
      const terms = ['--url', url, '--secret-file', secretFile];
      const events = ['--events', 'balance.low,task.finished'];
      const made = await answerOf('webhook-endpoint:create', 'Acme', ...terms, ...events);
      const shown = { id: made.id, url, events: ['balance.low', 'task.finished'] };
      expect(made).toMatchObject(shown);
      expect(JSON.stringify(made)).not.toContain(SECRET);
      expect(await answerOf('webhook-endpoint', made.id)).toEqual(made);
      expect(await answerOf('webhook-endpoints', 'Acme')).toMatchObject({ data: [made] });
      const sent = await answerOf('webhook-endpoint:test', made.id);
      expect(sent).toMatchObject({ account_id: account, endpoint_id: made.id, event: 'test' });
      for (const filter of [
        ['--account-id', 'Acme'],
        ['--endpoint-id', made.id],
        ['--event', 'test', '--status', 'pending'],
      ]) {
        expect(await answerOf('deliveries', ...filter)).toMatchObject({ data: [{ id: sent.id }] });
      }
      expect(await answerOf('deliveries', '--event', 'balance.low')).toMatchObject({ data: [] });
      expect(await answerOf('webhook-endpoint:delete', made.id)).toEqual({
        id: made.id,
        deleted: true,
      });
      expect(await refusalOf('webhook-endpoint:test', made.id)).toBe('No such webhook endpoint.');
      const acts = await answerOf('actions', '--limit', '4');
      expect(acts).toMatchObject({
        data: [
          { action: 'webhook-endpoint:test', outcome: 'not_found', target: made.id },
          { action: 'webhook-endpoint:delete', outcome: 'done', target: made.id },
          { action: 'webhook-endpoint:test', made: sent.id, target: made.id },
          { action: 'webhook-endpoint:create', made: made.id, target: account },
        ],
      });
      expect(JSON.stringify(acts)).not.toMatch(/canary|a-secret/);
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );

  it(
    'are refused with the field that is wrong',
    async () => {
      const terms = ['--url', 'https://example.com/', '--secret-file', secretFile];
      const make = ['webhook-endpoint:create', 'Acme'];
      expect(await refusalOf(...make, ...terms, '--events', 'balance.high')).toMatch(/^events/);
      expect(await refusalOf(...make, '--events', 'balance.low')).toMatch(/^(secret|url)/);
      expect(
        await refusalOf(...make, ...terms.with(1, 'https://10.0.0.1/'), '--events', 'task.unknown'),
      ).toMatch(/^url/);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
