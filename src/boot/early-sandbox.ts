import { type GatewayConfig, workerCount } from '../config/gateway-config.js';
import type { WorkerContext } from '../config/worker-context.js';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.js';
import { sandboxScope } from '../config/sandbox-scope.js';

/**
 * Starts the sandbox in its thread, before the gateway is imported, if it is certain to be needed: in the only process,
 * where no catalog file can name other providers. Undefined: it is started later, if at all. Whoever awaits it gets its
 * failure.
 */
export function startSandboxEarly(
  config: GatewayConfig,
  worker: WorkerContext | undefined,
): Promise<Sandbox> | undefined {
  const mayBeReplaced = config.catalogFile !== undefined;
  const isOnly = worker === undefined && workerCount(config) === 1;
  if (!isOnly || mayBeReplaced || sandboxScope(config, { providers: [] }) === 'none')
    return undefined;
  const sandbox = startSandbox();
  sandbox.catch(() => undefined);
  return sandbox;
}
