import type { Logger } from 'pino';
import type { Gateway } from './start-gateway.js';
import { createDemoAccount, welcomeText } from '../admin/first-start.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import { Accounts } from '../billing/accounts.js';
import { LedgerService } from '../billing/ledger.service.js';

const NO_DEMO =
  'There is no demo account, because there were accounts before the first start; make a key with key:create';

/**
 * On the first start, if the embedded database is empty and the sandbox replaces every provider: makes the demo account
 * and prints its key to standard output. No key is printed anywhere else.
 */
export async function greet(gateway: Gateway, logger: Logger): Promise<void> {
  const accounts = gateway.app.get(Accounts);
  if (!gateway.isSandboxed) {
    await warnOfPlayMoney(accounts, logger);
    return;
  }
  const keys = gateway.app.get(ApiKeysService, { strict: false });
  const issued = await createDemoAccount(accounts, gateway.app.get(LedgerService), keys);
  if (issued) process.stdout.write(`${welcomeText(gateway.url, issued.key)}\n`);
  else if ((await accounts.withPlayMoney()).length === 0) logger.info(NO_DEMO);
}

/** The demo account cannot buy a real provider's work (decision G-95). */
async function warnOfPlayMoney(accounts: Accounts, logger: Logger): Promise<void> {
  const names = (await accounts.withPlayMoney()).map(({ name }) => name);
  if (names.length === 0) return;
  logger.warn(
    `Account ${names.join(', ')} has play money, which buys sandbox work only; make another with account:create`,
  );
}
