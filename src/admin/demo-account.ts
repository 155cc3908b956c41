import { ApiKeysService } from '../auth/api-keys.service.js';
import type { IssuedKey } from '../auth/api-keys.service.js';
import { type Accounts, DEMO_CREDIT } from '../billing/accounts/accounts.js';
import type { LedgerService } from '../billing/ledger/ledger.service.js';

/** 100 USD. */
const DEMO_CREDIT_MICRO_USD = 100_000_000n;

/**
 * If the database has no account: creates account `demo` with 100 USD of play money and returns its key; otherwise
 * undefined. A second start changes nothing.
 */
export async function createDemoAccount(
  accounts: Accounts,
  ledger: LedgerService,
  keys: ApiKeysService,
): Promise<IssuedKey | undefined> {
  const { items } = await accounts.list({ limit: 1 });
  if (items.length > 0) return undefined;
  const account = await accounts.create('demo', 'play');
  await ledger.credit({
    accountId: account.id,
    amountMicroUsd: DEMO_CREDIT_MICRO_USD,
    ...DEMO_CREDIT,
  });
  const terms = { name: 'demo', allowedModels: null, expiresAt: null, requestsPerMinute: null };
  return keys.issue(account.id, terms);
}

/** The text of the first start: the key, the docs and three commands to copy. */
export function welcomeText(url: string, key: string, hasConsole: boolean): string {
  const auth = `-H "Authorization: Bearer ${key}"`;
  return [
    '',
    `Shim is ready at ${url}`,
    `Account "demo" has 100 USD. Its API key, shown only now: ${key}`,
    `Docs: ${url}/docs${hasConsole ? `, console: ${url}/console/` : ''}`,
    '',
    'Try:',
    `  curl ${url}/v1/audio/speech ${auth} -H "Content-Type: application/json" -d '{"model":"aud-v4","input":"Hello from Shim.","voice":"Adam"}' -o hello.mp3`,
    `  curl ${url}/v1/account ${auth}`,
    `  curl ${url}/v1/models ${auth}`,
    '',
  ].join('\n');
}
