import { Logger } from '@nestjs/common';
import type { Gateway } from './start-gateway.js';
import { createDemoAccount, welcomeText } from '../admin/first-start.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import { Accounts } from '../billing/accounts.js';
import { LedgerService } from '../billing/ledger.service.js';

/**
 * On the first start, with the embedded database still empty and the sandbox for every provider: makes the demo account and
 * prints its key to standard output, the one place where a key is ever printed.
 */
export async function greet(gateway: Gateway): Promise<void> {
  const accounts = gateway.app.get(Accounts);
  if (!gateway.isSandboxed) {
    await warnOfPlayMoney(accounts);
    return;
  }
  const keys = gateway.app.get(ApiKeysService, { strict: false });
  const issued = await createDemoAccount(accounts, gateway.app.get(LedgerService), keys);
  if (issued) process.stdout.write(`${welcomeText(gateway.url, issued.key)}\n`);
}

/** A real provider's work is not for sale to the demo account (decision G-95). */
async function warnOfPlayMoney(accounts: Accounts): Promise<void> {
  const names = (await accounts.withPlayMoney()).map(({ name }) => name);
  if (names.length === 0) return;
  new Logger('Gateway').warn(
    `Account ${names.join(', ')} has play money, which buys sandbox work only; make another with account:create`,
  );
}
