import type { Logger } from 'pino';
import type { Gateway } from './start-gateway.js';
import { createDemoAccount, welcomeText } from '../admin/demo-account.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import { Accounts } from '../billing/accounts/accounts.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';

const NO_DEMO =
  'There is no demo account, because there were accounts before the first start; make a key with key:create';

/**
 * On the first start, if the embedded database is empty and the sandbox serves every provider: creates the demo account
 * and prints its key to standard output. No key is printed anywhere else. Every other start logs how many accounts have
 * play money.
 */
export async function greet(gateway: Gateway, isEmbedded: boolean, logger: Logger): Promise<void> {
  const accounts = gateway.app.get(Accounts);
  if (isEmbedded && gateway.isSandboxed) {
    const keys = gateway.app.get(ApiKeysService, { strict: false });
    const issued = await createDemoAccount(accounts, gateway.app.get(LedgerService), keys);
    if (issued) {
      process.stdout.write(`${welcomeText(gateway.url, issued.key)}\n`);
      return;
    }
    if (!(await accounts.demo())) logger.info(NO_DEMO);
  }
  logPlayMoney(await accounts.countWithPlayMoney(), gateway.isSandboxed, logger);
}

/**
 * Logs the number of accounts with play money, as a warning if there is a real provider: play money cannot pay for a
 * provider's work (decisions G-95, G-110).
 */
function logPlayMoney(count: number, isSandboxed: boolean, logger: Logger): void {
  if (count === 0) return;
  const whose = count === 1 ? '1 account has' : `${count} accounts have`;
  const text = `${whose} play money, which buys sandbox work only`;
  if (isSandboxed) logger.info(text);
  else logger.warn(`${text}; make an account for real money with account:create`);
}
