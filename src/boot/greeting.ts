import type { Gateway } from './start-gateway.js';
import { createDemoAccount, welcomeText } from '../admin/first-start.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import { LedgerService } from '../billing/ledger.service.js';

/**
 * On the first start, with the embedded database still empty and the sandbox for every provider: makes the demo account and
 * prints its key to standard output, the one place where a key is ever printed.
 */
export async function greet(gateway: Gateway): Promise<void> {
  if (!gateway.isSandboxed) return;
  const issued = await createDemoAccount(
    gateway.app.get(LedgerService),
    gateway.app.get(ApiKeysService, { strict: false }),
  );
  if (issued) process.stdout.write(`${welcomeText(gateway.url, issued.key)}\n`);
}
