import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { Catalog } from '../catalog/catalog.js';
import { nameVoices } from '../catalog/voices.js';
import { loadCatalog } from '../catalog/catalog-file.js';
import { withSandboxModels } from '../catalog/models/sandbox.models.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { ConfigError } from '../platform/config/load-config.js';
import type { SandboxAccess } from '../platform/config/worker-context.js';
import { loggableError } from '../platform/observability/logger.js';
import type { ProvidersOptions } from '../providers/providers.options.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';
import { playedVendors, providersOptions, sandboxedOf } from '../providers/provider-configs.js';
import { publishVendors } from '../sandbox/sandbox.js';

const HAND_OVER_TRIES = 3;
const HAND_OVER_PAUSE_MS = 500;

/** The configuration with which a running gateway was started. */
interface Running {
  readonly app: NestExpressApplication;
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly sandbox: SandboxAccess | undefined;
}

/**
 * Reads `CATALOG_FILE` and the files of vendors again and replaces models, prices and providers at once. An invalid file changes nothing and is
 * logged. Running calls and tasks keep the price of their hold.
 */
export async function reloadCatalog({ app, config, logger, sandbox }: Running): Promise<void> {
  try {
    const loaded = loadCatalog(config.catalogFile, config.vendorsDir);
    const providers = providersOptions(config, loaded, sandbox);
    const catalog = withSandboxModels(loaded, sandboxedOf(providers));
    if (sandbox) await handVendorsOver(sandbox, providers, logger);
    app.get(ProviderRegistry).replace(providers);
    app.get(Catalog).replace(catalog.rows);
    nameVoices(catalog.voiceAliases, catalog.rows);
    logger.info(
      { models: app.get(Catalog).list().length, providers: providers.providers.length },
      'the catalog was read anew',
    );
  } catch (error) {
    const rejection = 'CATALOG_FILE does not fit; nothing was changed';
    if (error instanceof ConfigError) logger.error(`${rejection}. ${error.problems.join(' ')}`);
    else logger.error({ cause: loggableError(error) }, rejection);
  }
}

/** The work, begun only once the one before has ended: the files that were read last count. */
export function oneByOne(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  return () => (last = last.then(work));
}

/**
 * The sandbox plays these vendors from now on, before a task can be sent to one of them. One that does not take them is told again a
 * few times, then this is logged and the gateway continues.
 */
export async function handVendorsOver(
  sandbox: SandboxAccess,
  providers: ProvidersOptions,
  logger: Logger,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await publishVendors(sandbox, playedVendors(providers));
      return;
    } catch (error) {
      if (tries === HAND_OVER_TRIES) {
        // A crash of the sandbox counts as an outage of a provider.
        logger.warn({ cause: loggableError(error) }, 'the sandbox does not respond');
        return;
      }
      await sleep(HAND_OVER_PAUSE_MS);
    }
  }
}
