import { redactText } from '../../common/secrets/redact-text.js';
import type { GatewayConfig } from './gateway-config.js';
import { readSecret } from './secret-files.js';
import type { Setting } from './setting.js';
import { SETTINGS, type SettingName } from './settings.js';

/** All problems of a configuration at once, one line per variable; secrets are not quoted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** @param unreadCatalogFile path of the catalog file, if the problems kept it from being read */
  constructor(
    readonly problems: readonly string[],
    readonly unreadCatalogFile?: string,
  ) {
    super(['The configuration is invalid:', ...problems.map((line) => `  ${line}`)].join('\n'));
  }
}

const QUOTE_LIMIT = 60;
/** What load balancers take to see that a process is not ready. */
const PRODUCTION_DRAIN_NOTICE_MS = 5_000;

/**
 * Reads the environment into a validated, frozen configuration. An empty variable counts as unset. A secret may be in
 * the file that `NAME_FILE` names. Throws {@link ConfigError} that lists every bad variable.
 */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): GatewayConfig {
  return load(environment, { needsSecretKey: true });
}

/** As {@link loadConfig}, for operator commands. They store no secrets, so `SECRET_KEY` may be missing. */
export function loadOperatorConfig(environment: NodeJS.ProcessEnv = process.env): GatewayConfig {
  return load(environment, { needsSecretKey: false });
}

interface Demands {
  /** Whether `SECRET_KEY` is required, because the database is external. */
  readonly needsSecretKey: boolean;
}

function load(given: NodeJS.ProcessEnv, demands: Demands): GatewayConfig {
  const { environment, problems } = withSecretFiles(given);
  const config: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(SETTINGS) as [SettingName, Setting][]) {
    const text = environment[name];
    config[row.field] = row.fallback;
    if (text === undefined || text === '') continue;
    const reading = row.read(text);
    if ('value' in reading) config[row.field] = reading.value;
    else
      problems.push(
        `${name}: ${redactText(reading.problem)}${row.secret ? '' : ` (got ${quote(text)})`}`,
      );
  }
  if (!environment.DRAIN_NOTICE_MS && environment.NODE_ENV === 'production') {
    config.drainNoticeMs = PRODUCTION_DRAIN_NOTICE_MS;
  }
  const loaded = config as unknown as GatewayConfig;
  problems.push(...crossChecks(loaded, environment, demands));
  if (problems.length > 0) throw new ConfigError(problems, loaded.catalogFile);
  return Object.freeze(loaded);
}

/** The environment with the texts of the files that it names for secrets, and what is wrong with them. */
function withSecretFiles(given: NodeJS.ProcessEnv): {
  readonly environment: NodeJS.ProcessEnv;
  readonly problems: string[];
} {
  const environment = { ...given };
  const problems: string[] = [];
  for (const [name, { secret }] of Object.entries<Setting>(SETTINGS)) {
    if (secret !== true) continue;
    const reading = readSecret(given, name);
    if ('value' in reading) environment[name] = reading.value;
    else problems.push(reading.problem);
  }
  return { environment, problems };
}

function crossChecks(
  config: GatewayConfig,
  environment: NodeJS.ProcessEnv,
  { needsSecretKey }: Demands,
): string[] {
  const problems: string[] = [];
  if (needsSecretKey && config.databaseUrl !== undefined && !environment.SECRET_KEY) {
    problems.push('SECRET_KEY: is required with DATABASE_URL (at least 32 characters)');
  }
  if (config.role !== 'all' && !environment.DATABASE_URL) {
    problems.push(`ROLE: ${config.role} needs DATABASE_URL`);
  }
  problems.push(...oidcProblems(config));
  if (config.videoApiKey !== undefined && !environment.VIDEO_BASE_URL) {
    problems.push('VIDEO_BASE_URL: is required with VIDEO_API_KEY');
  }
  return problems;
}

/** Signing in with an identity provider needs all of its settings. */
function oidcProblems(config: GatewayConfig): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles } = config;
  const settings = {
    OIDC_ISSUER: oidcIssuer,
    OIDC_CLIENT_ID: oidcClientId,
    OIDC_CLIENT_SECRET: oidcClientSecret,
    OIDC_ROLES: oidcRoles.length > 0 ? oidcRoles : undefined,
  };
  const entries = Object.entries(settings);
  const isUsed = entries.some(([, value]) => value !== undefined);
  return entries.flatMap(([name, value]) =>
    isUsed && value === undefined ? [`${name}: is required with the other OIDC settings`] : [],
  );
}

function quote(text: string): string {
  // A query may contain a key.
  const known = redactText(text).replace(/([?#]).+/s, '$1…');
  return JSON.stringify(known.length > QUOTE_LIMIT ? `${known.slice(0, QUOTE_LIMIT)}…` : known);
}
