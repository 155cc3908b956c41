import { expect } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { KeyTerms } from '../../src/auth/api-keys.service.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import type { RecordedRequest } from '../../src/sandbox/http/recorder.js';
import type { SandboxStats } from '../../src/sandbox/sandbox-server.js';
import { GatewayAccounts, type TestAccount } from './gateway-accounts.js';

const POOL_SIZE = 4;
/** All that the sandbox remembers: polls of tasks may come between a request and the look at it. */
export const REMEMBERED_REQUESTS = 1_000;

/** A gateway with the sandbox upstream as tests see it from outside: over HTTP, in its database and at its provider. */
export interface GatewayFromOutside {
  readonly url: string;
  readonly dataSource: DataSource;
  /** A fresh account with `credit` micro-USD and one key: of play money where the sandbox serves every provider. */
  account(credit?: bigint, terms?: Partial<KeyTerms>): Promise<TestAccount>;
  /** Another key of an account. */
  keyOf(accountId: string, terms?: Partial<KeyTerms>): Promise<string>;
  /** Available and held micro-USD. */
  balance(accountId: string): Promise<{ available: bigint; held: bigint; entries: number }>;
  /** What the upstream received, newest first. */
  upstreamRequests(): Promise<RecordedRequest[]>;
  /** How many requests the upstream received since it started, by operation. */
  upstreamCounts(): Promise<Readonly<Record<string, number>>>;
  /** Proves the books, and that no hold of its accounts is open. */
  expectCleanBooks(): Promise<void>;
  /** Call it in `afterAll`. */
  stop(): Promise<void>;
}

/**
 * The gateway of this Jest worker, for a test file that needs no settings and no services of its own. It is a process of its own,
 * and goes on for later files: what a test asserts, it asserts of its own accounts.
 */
export async function sharedGateway(): Promise<GatewayFromOutside> {
  const { url, databaseUrl, sandboxUrl } = await placeOfShared();
  const requests = `${sandboxUrl}/__sandbox/requests`;
  await fetch(requests, { method: 'DELETE' });
  const dataSource = await createDataSource({ url: databaseUrl, poolSize: POOL_SIZE }).initialize();
  const accounts = new GatewayAccounts(dataSource, true);
  return {
    url,
    dataSource,
    account: (credit, terms) => accounts.make(credit, terms),
    keyOf: (accountId, terms) => accounts.keyOf(accountId, terms),
    balance: (accountId) => accounts.balance(accountId),
    async upstreamRequests() {
      const answer = await fetch(`${requests}?limit=${REMEMBERED_REQUESTS}`);
      return (await answer.json()) as RecordedRequest[];
    },
    async upstreamCounts() {
      const answer = await fetch(`${sandboxUrl}/__sandbox/stats`);
      return ((await answer.json()) as SandboxStats).requests;
    },
    expectCleanBooks: () => accounts.expectCleanBooks('made'),
    async stop() {
      // Tasks that are left open are not polled for the next file.
      await dataSource.query('DELETE FROM task_work WHERE account_id = ANY($1)', [accounts.ids]);
      await dataSource.destroy();
    },
  };
}

async function placeOfShared(): Promise<Record<'url' | 'databaseUrl' | 'sandboxUrl', string>> {
  const { TEST_GATEWAYS_URL: home, JEST_WORKER_ID: worker } = process.env;
  const { testPath = '' } = expect.getState();
  if (home === undefined) throw new Error('TEST_GATEWAYS_URL is not set: run the tests with Jest');
  const answer = await fetch(`${home}/${worker ?? '1'}?file=${encodeURIComponent(testPath)}`);
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as Record<'url' | 'databaseUrl' | 'sandboxUrl', string>;
}
