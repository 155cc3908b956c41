import type { Logger } from 'pino';
import type { ModelRow } from '../catalog/model-row.js';
import { EVERY_ORIGIN } from '../platform/http-server/responses/every-origin.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { servesMetrics } from '../platform/observability/metrics.guard.js';

/** If a provider has more idle models than this, only their number is logged. */
const MAX_NAMED_MODELS = 3;

/** What of the catalog is of no use with these settings. */
interface Idle {
  /** The models that cannot run. */
  readonly idle: readonly ModelRow[];
  /** The ids of the configured providers that no model names. */
  readonly unused: readonly string[];
}

/**
 * Logs the settings that an operator may not have intended, and what of the catalog is of no use. `isEmbedded`: the
 * database is the embedded one.
 */
export function logStartupWarnings(
  config: GatewayConfig,
  { idle, unused }: Idle,
  logger: Logger,
  isEmbedded = config.databaseUrl === undefined,
): void {
  warnOfSettings(config, logger, isEmbedded);
  if (idle.length > 0) logger.warn(idleText(idle));
  if (unused.length > 0) {
    logger.warn(
      { providers: unused },
      'Providers that no model names: they have a key, but nothing is sold of them. Add models with routes to them to CATALOG_FILE',
    );
  }
}

function warnOfSettings(config: GatewayConfig, logger: Logger, isEmbedded: boolean): void {
  if (config.egressAllow.length > 0) {
    logger.warn({ entries: config.egressAllow }, 'EGRESS_ALLOW opens private addresses');
  }
  if (config.corsOrigins.includes(EVERY_ORIGIN)) {
    logger.warn('CORS_ORIGINS is *: pages of every origin may call with the keys that they have');
  }
  if (!servesMetrics(config)) {
    logger.warn('/metrics is off: METRICS_TOKEN is unset and HOST is no loopback address');
  }
  if (!isEmbedded && config.migrate === 'on' && config.migrationDatabaseUrl === undefined) {
    logger.warn('MIGRATION_DATABASE_URL is unset: the role of DATABASE_URL can change the books');
  }
  if (config.role !== 'all' && !config.storageUrl?.startsWith('s3:')) {
    logger.warn({ role: config.role }, 'STORAGE_URL is a folder: all roles must share its volume');
  }
}

/** The models that cannot run, by their providers: in one line, for there may be many. */
function idleText(idle: readonly ModelRow[]): string {
  const models = new Map<string, string[]>();
  for (const { id, routes } of idle) {
    const names = routes.map(({ provider }) => provider).join(' or ') || 'no provider';
    models.set(names, [...(models.get(names) ?? []), id]);
  }
  const parts = [...models].map(([names, ids]) => {
    const which = ids.length > MAX_NAMED_MODELS ? `${ids.length} models` : ids.join(', ');
    return `${which} (${names})`;
  });
  const remedy = 'Set the key of the provider, or SANDBOX=on to try them out';
  return `Models that cannot run, because their provider is not configured: ${parts.join('; ')}. ${remedy}`;
}
