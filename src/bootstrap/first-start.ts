import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Gateway } from './start-gateway.js';
import { createDemoAccount, welcomeText } from '../admin/demo-account.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import { Accounts } from '../billing/accounts/accounts.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { PRIVATE_FILE_MODE } from '../common/private-files.js';

const NO_DEMO =
  'There is no demo account, because there were accounts before the first start; make a key with key:create';

/** The file in the data folder with the demo key of a container. */
const KEY_FILE = 'demo-key';

/** What a greeting depends on. */
export interface FirstStart {
  readonly isEmbedded: boolean;
  readonly dataDir: string;
  /** Standard output is a log of JSON lines that other programs read, as in a container: nothing else is written to it. */
  readonly isJsonOnly: boolean;
  /** The page at `/console/` is there. */
  readonly hasConsole: boolean;
}

/**
 * On the first start, if the embedded database is empty and the sandbox serves every provider: creates the demo account
 * and prints its key to standard output; with `isJsonOnly` it writes the key to `DATA_DIR/demo-key` and logs the path. No
 * key is written anywhere else. Every other start logs how many accounts have play money.
 */
export async function greet(gateway: Gateway, first: FirstStart, logger: Logger): Promise<void> {
  const accounts = gateway.app.get(Accounts);
  if (first.isEmbedded && gateway.isSandboxed) {
    const keys = gateway.app.get(ApiKeysService, { strict: false });
    const issued = await createDemoAccount(accounts, gateway.app.get(LedgerService), keys);
    if (issued) {
      if (first.isJsonOnly) await keepKey(issued.key, first.dataDir, logger);
      else {
        await flushed(logger);
        process.stdout.write(`${welcomeText(gateway.url, issued.key, first.hasConsole)}\n`);
      }
      return;
    }
    if (!(await accounts.demo())) logger.info(NO_DEMO);
  }
  logPlayMoney(await accounts.countWithPlayMoney(), gateway.isSandboxed, logger);
}

/** Until the lines so far are written, so that the greeting is behind the line that the gateway is ready. */
function flushed(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    logger.flush(() => {
      resolve();
    });
  });
}

async function keepKey(key: string, dataDir: string, logger: Logger): Promise<void> {
  const path = resolve(join(dataDir, KEY_FILE));
  await writeFile(path, `${key}\n`, { mode: PRIVATE_FILE_MODE, flag: 'w', flush: true });
  logger.info({ path }, 'Account "demo" has 100 USD of play money; its API key is in this file');
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
