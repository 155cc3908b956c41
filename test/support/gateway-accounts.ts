import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { ApiKey } from '../../src/auth/api-key.entity.js';
import { ApiKeysService, type KeyTerms } from '../../src/auth/api-keys.service.js';
import { Accounts } from '../../src/billing/accounts/accounts.js';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';
import { SystemClock } from '../../src/common/time/clock.js';

/** Calls of clients that left end within this time. So do tasks after a worker lost its 30 s lease. */
const OUTLIVING_MS = 45_000;
const POLL_MS = 100;
const START_CREDIT = 1_000_000_000n;
const TERMS: KeyTerms = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
};

/** An account with a key, created directly with the services. */
export interface TestAccount {
  readonly accountId: string;
  readonly key: string;
  readonly headers: { authorization: string };
}

/** Makes the accounts of a test in the database of its gateway, and proves their books. */
export class GatewayAccounts {
  private readonly accounts: Accounts;
  private readonly ledger: LedgerService;
  private readonly keys: ApiKeysService;
  private readonly made: string[] = [];

  /** The accounts have play money where the sandbox serves every provider. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly isSandboxed: boolean,
  ) {
    const clock = new SystemClock();
    this.accounts = new Accounts(dataSource, clock);
    this.ledger = new LedgerService(dataSource);
    this.keys = new ApiKeysService(dataSource.getRepository(ApiKey), clock);
  }

  /** Ids of those that were made here. */
  get ids(): readonly string[] {
    return this.made;
  }

  /** A fresh account with `credit` micro-USD and one key. */
  async make(credit = START_CREDIT, terms: Partial<KeyTerms> = {}): Promise<TestAccount> {
    const { id } = await this.accounts.create('test', this.isSandboxed ? 'play' : 'real');
    this.made.push(id);
    if (credit > 0n) {
      await this.ledger.credit({
        accountId: id,
        amountMicroUsd: credit,
        idempotencyKey: 'start',
        reference: null,
      });
    }
    const key = await this.keyOf(id, terms);
    return { accountId: id, key, headers: { authorization: `Bearer ${key}` } };
  }

  /** Another key of an account. */
  async keyOf(accountId: string, terms: Partial<KeyTerms> = {}): Promise<string> {
    return (await this.keys.issue(accountId, { ...TERMS, ...terms })).key;
  }

  /** Available and held micro-USD. */
  async balance(accountId: string): Promise<{ available: bigint; held: bigint; entries: number }> {
    const account = await this.accounts.get(accountId);
    const { items } = await this.ledger.entries(accountId, { limit: 100 });
    return {
      available: account.availableMicroUsd,
      held: account.heldMicroUsd,
      entries: items.length,
    };
  }

  /** Waits until nothing is held, of the accounts that were made here or else of all, and proves the books. */
  async expectCleanBooks(of: 'all' | 'made'): Promise<void> {
    // A call may outlive its client: the provider is read to its end.
    const giveUpAt = performance.now() + OUTLIVING_MS;
    for (;;) {
      const report = await auditLedger(this.dataSource);
      const held = of === 'all' ? report.heldMicroUsd : await this.heldOfMade();
      if (report.ok && held === 0n) return;
      if (!report.ok || performance.now() > giveUpAt) {
        throw new Error(
          `the books are off: ${JSON.stringify({ ...report, held }, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))}`,
        );
      }
      await sleep(POLL_MS);
    }
  }

  private async heldOfMade(): Promise<bigint> {
    const accounts = await Promise.all(this.made.map((id) => this.accounts.get(id)));
    return accounts.reduce((sum, { heldMicroUsd }) => sum + heldMicroUsd, 0n);
  }
}
