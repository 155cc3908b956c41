import { Logger } from '@nestjs/common';
import type { Gateway } from './start-gateway.js';
import { createDemoAccount, welcomeText } from '../admin/first-start.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import { Accounts } from '../billing/accounts.js';
import { LedgerService } from '../billing/ledger.service.js';

/**
 * On the first start, if the embedded database is empty and the sandbox replaces every provider: makes the demo account
 * and prints its key to standard output. No key is printed anywhere else.
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

/** The demo account cannot buy a real provider's work (decision G-95). */
async function warnOfPlayMoney(accounts: Accounts): Promise<void> {
  const names = (await accounts.withPlayMoney()).map(({ name }) => name);
  if (names.length === 0) return;
  new Logger('Gateway').warn(
    `Account ${names.join(', ')} has play money, which buys sandbox work only; make another with account:create`,
  );
}
