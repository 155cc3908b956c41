import { availableParallelism } from 'node:os';

/** The whole configuration, validated and frozen; made by {@link loadConfig}. One field per variable. */
export interface GatewayConfig {
  readonly port: number;
  readonly host: string;
  readonly databaseUrl: string | undefined;
  readonly databasePooler: 'auto' | 'transaction' | 'none';
  readonly migrationDatabaseUrl: string | undefined;
  readonly readerDatabaseUrl: string | undefined;
  readonly dataDir: string;
  readonly adminToken: string | undefined;
  /** The first encrypts, all decrypt. When undefined, `withSecretKeys` reads them from the data directory. */
  readonly secretKeys: readonly string[] | undefined;
  readonly openaiApiKey: string | undefined;
  readonly openaiBaseUrl: string;
  readonly anthropicApiKey: string | undefined;
  readonly anthropicBaseUrl: string;
  readonly videoApiKey: string | undefined;
  readonly videoBaseUrl: string | undefined;
  readonly elevenlabsApiKey: string | undefined;
  readonly elevenlabsBaseUrl: string;
  readonly ttapiApiKey: string | undefined;
  readonly ttapiBaseUrl: string;
  readonly geminiApiKey: string | undefined;
  readonly geminiBaseUrl: string;
  readonly sandbox: 'auto' | 'on' | 'off';
  /** Whether calls of the sandbox's models are charged in real money (decision G-110). */
  readonly sandboxCharges: 'on' | 'off';
  readonly catalogFile: string | undefined;
  readonly vendorsDir: string | undefined;
  readonly publicUrl: string | undefined;
  /** The page where an account gets more money, with `{account}` for its id. */
  readonly topUpUrl: string | undefined;
  readonly egressAllow: readonly string[];
  /** Undefined: `file://DATA_DIR/files`. */
  readonly storageUrl: string | undefined;
  readonly s3Endpoint: string | undefined;
  readonly redisUrl: string | undefined;
  readonly rateLimitRpm: number;
  readonly taskTickMs: number;
  readonly taskPollIntervalMs: number;
  readonly taskDeadlineMs: number;
  readonly contentLinkTtlSeconds: number;
  readonly upstreamTimeoutMs: number | undefined;
  readonly webhookRetryDelaysMs: readonly number[];
  readonly webhookTimeoutMs: number;
  readonly holdSweepMs: number;
  /** Undefined: the first or only cell. */
  readonly cell: string | undefined;
  readonly migrate: 'on' | 'off';
  readonly drainNoticeMs: number;
  readonly drainTimeoutMs: number;
  readonly callDeadlineMs: number;
  /** Undefined: records are kept. */
  readonly recordRetentionDays: number | undefined;
  /** 0: nothing is stored. */
  readonly responsesRetentionDays: number;
  readonly responsesMaxBytesPerAccount: number;
  readonly responsesMaxBytes: number;
  readonly role: 'all' | 'api' | 'worker';
  readonly workers: number | 'auto';
  readonly metricsToken: string | undefined;
  readonly trustProxy: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Whether there is a page at `/console`. */
  readonly console: 'on' | 'off';
  /** Undefined: operators sign in with the admin token only. */
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcClientSecret: string | undefined;
  /** Each is `claim=value:role`. */
  readonly oidcRoles: readonly string[];
  readonly runHeaders: readonly string[];
  /** 0 = no limit. */
  readonly maxConnectionsPerAddress: number;
  /** 0 = no limit. */
  readonly maxParallelCallsPerKey: number;
  readonly providerMaxConnections: number;
  readonly maxWaitingRequests: number;
  readonly maxUploadsPerAccount: number;
  readonly maxBackgroundResponsesPerAccount: number;
  readonly spoolMaxBytes: number;
  readonly bodyMemoryMaxBytes: number;
  readonly unreadAnswersMaxBytes: number;
  /** The collector of traces. Undefined: there are none. */
  readonly otlpEndpoint: string | undefined;
  readonly otlpHeaders: Readonly<Record<string, string>> | undefined;
  /** From 0 to 1. */
  readonly tracedShare: number;
  readonly otelServiceName: string;
  readonly logLevel: LogLevel;
}

/** pino's levels. */
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Whether this process serves the console. */
export function servesConsole({ console, role }: Pick<GatewayConfig, 'console' | 'role'>): boolean {
  return console === 'on' && role !== 'worker';
}

/** Injection token of the {@link GatewayConfig}. */
export const GATEWAY_CONFIG = Symbol('GATEWAY_CONFIG');

/** The number of processes that serve. */
export function workerCount(config: GatewayConfig): number {
  return config.workers === 'auto' ? availableParallelism() : config.workers;
}
