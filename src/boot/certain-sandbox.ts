import { type GatewayConfig, workerCount } from '../config/gateway-config.js';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.js';
import { sandboxScope } from './upstreams.js';

/** The sandbox of a single process, unless providers of a catalog file may take its place. */
export function certainSandbox(config: GatewayConfig): Promise<Sandbox> | undefined {
  const isOpen = config.catalogFile !== undefined || workerCount(config) > 1;
  const isNeeded = !isOpen && sandboxScope(config, { providers: [] }) !== 'none';
  return isNeeded ? startSandbox() : undefined;
}
