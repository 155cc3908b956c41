import { describe, expect, it } from '@jest/globals';
import { DAY_MS } from '../../common/time/spans.js';
import { ConfigError, loadConfig } from './load-config.js';
import { SETTINGS, type SettingName } from './settings.js';

/** Settings that take any text. */
type AnyText =
  | 'DATA_DIR'
  | 'CATALOG_FILE'
  | 'VENDORS_DIR'
  | 'OIDC_CLIENT_ID'
  | 'OIDC_CLIENT_SECRET'
  | 'OTEL_SERVICE_NAME';

/** One below the least, one above the most, and what is no whole number. */
const outside = (least: number, most: number): readonly string[] => [
  String(least - 1),
  String(most + 1),
  '1.5',
  'many',
];
const DATABASES = [
  'mysql://user@host/db',
  'localhost',
  'file:///tmp',
  'postgres://u@first:5432,second:x/db',
  'postgres://u@host/db?target_session_attrs=standby',
  'postgres://u@/db?host=a,b,c&port=1,2',
];
const HEADER_KEYS = ['two words', 'ключ', 'a\nb'];
/** Too short, or what a header cannot carry as it is. */
const TOKENS = [
  'x'.repeat(15),
  'a token with several spaces',
  'pässwörd-pässwörd',
  `${'x'.repeat(16)}\r`,
];
const WEB_ADDRESSES = ['localhost:8080', 'ftp://host', '//host'];
/** A path is put behind them, which a query or a fragment would swallow. */
const BASES = [...WEB_ADDRESSES, 'http://host/v1?key=a', 'http://host/v1#a', 'http://host?'];
const MEBIBYTE = 1_048_576;

const BAD: Readonly<Record<Exclude<SettingName, AnyText>, readonly string[]>> = {
  PORT: outside(0, 65_535),
  HOST: ['999.1.1.1', '127.0.0.1:3000', 'localhost:3000', '[::1]', '::g', 'http://host'],
  DATABASE_URL: DATABASES,
  DATABASE_POOLER: ['session', 'on'],
  MIGRATION_DATABASE_URL: DATABASES,
  READER_DATABASE_URL: DATABASES,
  ADMIN_TOKEN: TOKENS,
  METRICS_TOKEN: TOKENS,
  CONSOLE: ['yes', 'ON'],
  OIDC_ISSUER: ['login.example', 'http://login.example', 'https://login.example/?a=b'],
  OIDC_ROLES: ['admin', 'groups:admin', 'groups=ops:owner', 'groups=ops'],
  TRUST_PROXY: ['10.0.0.0/33', 'balancer', '10.0.0.1,nowhere', '1', '10/8', '10.0.0.1/'],
  CORS_ORIGINS: [
    '*.example',
    'app.example',
    'tauri://',
    'tauri://localhost/a',
    'file:///a',
    'https://app.example/path',
    'ftp://app.example',
  ],
  RUN_HEADERS: ['a b', 'x:y', 'Authorization', 'cookie'],
  SECRET_KEY: ['x'.repeat(31), `${'x'.repeat(32)},short`, ','],
  OPENAI_API_KEY: HEADER_KEYS,
  OPENAI_BASE_URL: BASES,
  ANTHROPIC_API_KEY: HEADER_KEYS,
  ANTHROPIC_BASE_URL: BASES,
  VIDEO_API_KEY: HEADER_KEYS,
  VIDEO_BASE_URL: BASES,
  ELEVENLABS_API_KEY: HEADER_KEYS,
  ELEVENLABS_BASE_URL: BASES,
  TTAPI_API_KEY: HEADER_KEYS,
  TTAPI_BASE_URL: BASES,
  GEMINI_API_KEY: HEADER_KEYS,
  GEMINI_BASE_URL: BASES,
  SANDBOX: ['maybe', 'ON'],
  SANDBOX_CHARGES: ['maybe', 'ON'],
  RESPONSES_RETENTION_DAYS: outside(0, 3_650),
  RESPONSES_MAX_BYTES_PER_ACCOUNT: outside(0, 1_099_511_627_776),
  RESPONSES_MAX_BYTES: outside(0, 1_099_511_627_776),
  TOPUP_URL: [
    'ftp://host/{account}',
    '{account}',
    'https://host/top-up',
    'https://host/{account}/{name}',
    'https://host/{account',
  ],
  PUBLIC_URL: BASES,
  EGRESS_ALLOW: ['http://host/', '127.0.0.1:99999', '10.0.0.0/40'],
  STORAGE_URL: ['/files', 'https://bucket', 'file:///', 's3:///prefix'],
  S3_ENDPOINT: WEB_ADDRESSES,
  REDIS_URL: [
    'http://host',
    'localhost:6379',
    'redis://first,second',
    'redis+sentinel://first,second',
    'redis+cluster://first/1',
  ],
  RATE_LIMIT_RPM: outside(0, 10_000_000),
  TASK_TICK_MS: outside(10, DAY_MS),
  TASK_POLL_INTERVAL_MS: outside(10, DAY_MS),
  TASK_DEADLINE_MS: outside(1_000, 30 * DAY_MS),
  CONTENT_LINK_TTL_SECONDS: outside(60, 1_209_600),
  UPSTREAM_TIMEOUT_MS: outside(1, DAY_MS),
  WEBHOOK_RETRY_DELAYS_MS: ['1,x', '-1', '1.5', String(7 * DAY_MS + 1), '1,'.repeat(101)],
  WEBHOOK_TIMEOUT_MS: outside(1, DAY_MS),
  HOLD_SWEEP_MS: outside(10, DAY_MS),
  CELL: ['A', '0-1', '123456789', 'é'],
  MIGRATE: ['yes', 'ON'],
  DRAIN_NOTICE_MS: outside(0, DAY_MS),
  DRAIN_TIMEOUT_MS: outside(0, DAY_MS),
  CALL_DEADLINE_MS: outside(1_000, DAY_MS),
  RECORD_RETENTION_DAYS: outside(30, 36_500),
  ROLE: ['boss', 'API'],
  WORKERS: [...outside(1, 128), 'AUTO'],
  MAX_CONNECTIONS_PER_ADDRESS: outside(0, 100_000),
  MAX_PARALLEL_CALLS_PER_KEY: outside(0, 100_000),
  PROVIDER_MAX_CONNECTIONS: outside(1, 100_000),
  MAX_WAITING_REQUESTS: outside(0, 100_000),
  MAX_UPLOADS_PER_ACCOUNT: outside(1, 10_000),
  MAX_BACKGROUND_RESPONSES_PER_ACCOUNT: outside(0, 100_000),
  SPOOL_MAX_BYTES: outside(64 * MEBIBYTE, MEBIBYTE * MEBIBYTE),
  BODY_MEMORY_MAX_BYTES: outside(64 * MEBIBYTE, MEBIBYTE * MEBIBYTE),
  UNREAD_ANSWERS_MAX_BYTES: outside(MEBIBYTE, MEBIBYTE * MEBIBYTE),
  OTEL_EXPORTER_OTLP_ENDPOINT: BASES,
  OTEL_EXPORTER_OTLP_HEADERS: ['token', 'a b=c', 'a=%zz', 'a=b,', 'a=\u0442'],
  OTEL_TRACES_SAMPLER_ARG: ['-0.1', '1.1', 'all', '10%'],
  LOG_LEVEL: ['loud', 'INFO'],
};
/** Settings without which another one cannot be judged alone. */
const BESIDE: NodeJS.ProcessEnv = {
  DATABASE_URL: 'postgres://user@host/db',
  SECRET_KEY: 'x'.repeat(32),
  VIDEO_BASE_URL: 'http://127.0.0.1:9/v1',
};

function problemsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('a bad value at the start', () => {
  it.each(Object.entries(BAD))('of %s is refused, and nothing else is', (name, values) => {
    for (const value of values) {
      const names = problemsOf({ ...BESIDE, [name]: value }).map((line) => line.split(':')[0]);
      expect([value, names]).toEqual([value, [name]]);
    }
  });

  it('has its row here for every setting that does not take any text', () => {
    const anyText = [
      'DATA_DIR',
      'CATALOG_FILE',
      'VENDORS_DIR',
      'OIDC_CLIENT_ID',
      'OIDC_CLIENT_SECRET',
    ];
    const known = [...Object.keys(BAD), ...anyText, 'OTEL_SERVICE_NAME'];
    expect(Object.keys(SETTINGS).sort()).toEqual(known.sort());
  });
});
