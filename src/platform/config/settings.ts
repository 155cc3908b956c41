import { ACCESS_SETTINGS } from './access-settings.js';
import { LIMIT_SETTINGS } from './limit-settings.js';
import { PROVIDER_SETTINGS } from './provider-settings.js';
import {
  address,
  baseUrl,
  databases,
  delays,
  egress,
  host,
  oneOf,
  secret,
  secretKeys,
  setting,
  storage,
  text,
  whole,
  workers,
} from './setting.js';

const DAY_MS = 86_400_000;

/** Every environment variable of the gateway: what it means, its default, how it is checked. */
export const SETTINGS = {
  PORT: setting('port', '3000', 3000, whole(0, 65_535), 'Listen port'),
  HOST: setting('host', '127.0.0.1', '127.0.0.1', host, 'Listen address'),
  DATABASE_URL: secret(
    setting(
      'databaseUrl',
      'unset',
      undefined,
      databases,
      'PostgreSQL. Several hosts (`first:5432,second:5432`) are tried in turn, and those that take no writes are passed over. Unset: an embedded one in `DATA_DIR/postgres`',
    ),
  ),
  MIGRATION_DATABASE_URL: secret(
    setting(
      'migrationDatabaseUrl',
      'unset',
      undefined,
      databases,
      'The same database as the owner of its tables. That role migrates at the start. It gives the role of `DATABASE_URL` the rights to run, and none to change tables, triggers or what was posted. Unset: `DATABASE_URL` does both',
    ),
  ),
  DATABASE_POOLER: setting(
    'databasePooler',
    'auto',
    'auto',
    oneOf('auto', 'transaction', 'none'),
    'Whether a pooler in transaction mode (PgBouncer 1.18 or later) is before the database; `auto` looks at the start',
  ),
  DATA_DIR: setting(
    'dataDir',
    './data',
    './data',
    text(),
    'Embedded database, stored files, generated secrets',
  ),
  ...ACCESS_SETTINGS,
  SECRET_KEY: secret(
    setting(
      'secretKeys',
      'generated',
      undefined,
      secretKeys,
      'Encrypts webhook secrets at rest; at least 32 characters. A comma-separated list: the first encrypts, all decrypt. Unset: made at the first start and kept in `DATA_DIR/secret-key`. Required with `DATABASE_URL`',
    ),
  ),
  ...PROVIDER_SETTINGS,
  CATALOG_FILE: setting(
    'catalogFile',
    'unset',
    undefined,
    text(),
    'JSON overlay on the built-in catalog',
  ),
  PUBLIC_URL: setting(
    'publicUrl',
    'unset',
    undefined,
    baseUrl,
    'Own address: the URLs of sandbox media begin with it, each `Location` begins with its path, and its host is refused as a webhook target',
  ),
  EGRESS_ALLOW: setting(
    'egressAllow',
    'empty',
    [],
    egress,
    'Comma-separated `host`, `ip`, `cidr`, each with optional `:port`, that downloads and webhooks may reach although they are private. Development and tests only',
  ),
  STORAGE_URL: setting(
    'storageUrl',
    'file://DATA_DIR/files',
    undefined,
    storage,
    'Stored media: `file://…` or `s3://bucket/prefix` (S3-compatible, with the standard AWS variables)',
  ),
  S3_ENDPOINT: setting(
    's3Endpoint',
    'unset',
    undefined,
    address('http', 'https'),
    'S3-compatible server of an `s3://` storage',
  ),
  REDIS_URL: secret(
    setting(
      'redisUrl',
      'unset',
      undefined,
      address('redis', 'rediss'),
      'Shares rate limits between replicas; in-process without it',
    ),
  ),
  RATE_LIMIT_RPM: setting(
    'rateLimitRpm',
    '600',
    600,
    whole(0, 10_000_000),
    'Default requests per minute per key; 0 = no default limit',
  ),
  TASK_TICK_MS: setting(
    'taskTickMs',
    '1000',
    1000,
    whole(10, DAY_MS),
    'How often a worker looks for due tasks and webhook deliveries',
  ),
  TASK_POLL_INTERVAL_MS: setting(
    'taskPollIntervalMs',
    '5000',
    5000,
    whole(10, DAY_MS),
    'First interval between two polls of one task',
  ),
  TASK_DEADLINE_MS: setting(
    'taskDeadlineMs',
    '86400000',
    DAY_MS,
    whole(1000, 30 * DAY_MS),
    'Age at which an unfinished task becomes `expired`',
  ),
  CONTENT_LINK_TTL_SECONDS: setting(
    'contentLinkTtlSeconds',
    '86400',
    86_400,
    whole(60, 1_209_600),
    'How long a link of `content-link` to the file of a task is good without a key; never longer than the file is kept',
  ),
  UPSTREAM_TIMEOUT_MS: setting(
    'upstreamTimeoutMs',
    'per operation',
    undefined,
    whole(1, DAY_MS),
    'Overrides every per-operation upstream timeout',
  ),
  WEBHOOK_RETRY_DELAYS_MS: setting(
    'webhookRetryDelaysMs',
    '10000,30000,60000,300000,1800000,7200000',
    [10_000, 30_000, 60_000, 300_000, 1_800_000, 7_200_000],
    delays,
    'Waits between attempts',
  ),
  WEBHOOK_TIMEOUT_MS: setting(
    'webhookTimeoutMs',
    '10000',
    10_000,
    whole(1, DAY_MS),
    "Receiver's time to answer",
  ),
  HOLD_SWEEP_MS: setting(
    'holdSweepMs',
    '5000',
    5000,
    whole(10, DAY_MS),
    'How often holds orphaned by a dead process are looked for',
  ),
  DRAIN_TIMEOUT_MS: setting(
    'drainTimeoutMs',
    '120000',
    120_000,
    whole(0, DAY_MS),
    'The longest wait for calls in flight after SIGTERM. Images take 20 to 60 s. Raise it (900000, say) where music is sold. Whoever stops the process has to wait 10 s longer',
  ),
  CALL_DEADLINE_MS: setting(
    'callDeadlineMs',
    '3600000',
    3_600_000,
    whole(1000, DAY_MS),
    'Longest a synchronous call may take in all',
  ),
  RECORD_RETENTION_DAYS: setting(
    'recordRetentionDays',
    'unset',
    undefined,
    whole(30, 36_500),
    'Calls, finished tasks and their deliveries are dropped when they ended so many days ago (30 or more). Ledger entries and usage never are. Unset: all are kept',
  ),
  ROLE: setting(
    'role',
    'all',
    'all',
    oneOf('all', 'api', 'worker'),
    '`all`, `api` (no workers), `worker` (no `/v1`); other than `all` needs `DATABASE_URL`',
  ),
  WORKERS: setting(
    'workers',
    '1',
    1,
    workers,
    'Processes sharing the port on this machine; `auto` = cores',
  ),
  ...LIMIT_SETTINGS,
  LOG_LEVEL: setting(
    'logLevel',
    'info',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'pino level; JSON lines in the container, pretty on a terminal',
  ),
} as const;

/** Name of an environment variable of the gateway. */
export type SettingName = keyof typeof SETTINGS;
