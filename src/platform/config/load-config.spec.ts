import { describe, expect, it } from '@jest/globals';
import { ConfigError, loadConfig, loadOperatorConfig } from './load-config.js';

function problemsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('loadConfig', () => {
  it('returns every documented default for an empty environment', () => {
    expect(loadConfig({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      dataDir: './data',
      sandbox: 'auto',
      rateLimitRpm: 600,
      maxConnectionsPerAddress: 2_000,
      holdSweepMs: 5000,
      migrate: 'on',
      drainNoticeMs: 0,
      drainTimeoutMs: 120_000,
      webhookRetryDelaysMs: [10_000, 30_000, 60_000, 300_000, 1_800_000, 7_200_000],
      role: 'all',
      workers: 1,
      logLevel: 'info',
    });
  });

  it('gives load balancers 5 s before a drain in production, unless a setting says otherwise', () => {
    const NODE_ENV = 'production';
    expect(loadConfig({ NODE_ENV }).drainNoticeMs).toBe(5_000);
    expect(loadConfig({ NODE_ENV, DRAIN_NOTICE_MS: '0' }).drainNoticeMs).toBe(0);
  });

  it('gives a receiver of webhooks ten seconds to answer (LIMIT-13)', () => {
    expect(loadConfig({}).webhookTimeoutMs).toBe(10_000);
  });

  it('treats an empty variable as unset', () => {
    expect(loadConfig({ PORT: '', ADMIN_TOKEN: '' })).toMatchObject({
      port: 3000,
      adminToken: undefined,
    });
  });

  it.each(['file://files', 'file:///', 's3:///prefix', '/files', 'https://bucket'])(
    'refuses %s as STORAGE_URL',
    (STORAGE_URL) => {
      expect(problemsOf({ STORAGE_URL })).toEqual([expect.stringMatching(/^STORAGE_URL: must be/)]);
    },
  );

  it.each(['file:///var/files', 's3://bucket', 's3://bucket/some/prefix'])(
    'takes %s as STORAGE_URL',
    (STORAGE_URL) => {
      expect(loadConfig({ STORAGE_URL }).storageUrl).toBe(STORAGE_URL);
    },
  );

  it('is frozen', () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true);
  });

  it('names every bad variable at once', () => {
    const names = problemsOf({
      PORT: '70000',
      ROLE: 'boss',
      WORKERS: '0',
      LOG_LEVEL: 'loud',
      EGRESS_ALLOW: '127.0.0.1:9000,http://x/',
      RATE_LIMIT_RPM: '-1',
    }).map((problem) => problem.split(':')[0]);
    expect(names).toEqual([
      'PORT',
      'EGRESS_ALLOW',
      'RATE_LIMIT_RPM',
      'ROLE',
      'WORKERS',
      'LOG_LEVEL',
    ]);
  });

  it('never quotes a secret', () => {
    const problems = problemsOf({
      ADMIN_TOKEN: 'hunter2',
      SECRET_KEY: 'tiny-secret',
      DATABASE_URL: 'mysql://user:hunter2@host/db',
      REDIS_URL: 'http://:hunter2@host',
      OPENAI_API_KEY: 'hun ter2',
    });
    expect(problems).toHaveLength(5);
    expect(problems.join()).not.toMatch(/hunter2|tiny-secret|hun ter2/);
  });

  it('never quotes the password of a URL, nor a key in a wrong variable', () => {
    const problems = problemsOf({
      OPENAI_BASE_URL: 'sk-hunter2hunter2hunter2',
      ELEVENLABS_BASE_URL: 'ftp://user:hunter2@host',
      STORAGE_URL: 'https://id:hunter2@bucket',
      EGRESS_ALLOW: 'http://user:hunter2@host/',
    });
    expect(problems).toHaveLength(4);
    expect(problems.join()).not.toContain('hunter2');
    expect(problems[1]).toContain('(got "ftp://[redacted]@host")');
  });

  it.each(['0.0.0.0', '::', '::1', 'fe80::1%eth0', 'localhost', 'gateway.example', '127.1'])(
    'takes %s as HOST',
    (HOST) => {
      expect(loadConfig({ HOST }).host).toBe(HOST);
    },
  );

  it('does not quote the query of an address, which may hold a key', () => {
    expect(problemsOf({ OPENAI_BASE_URL: 'https://host/v1?key=hunter2' })).toEqual([
      'OPENAI_BASE_URL: must have no query and no fragment (got "https://host/v1?…")',
    ]);
  });

  it('says what TRUST_PROXY takes where it is a count of proxies', () => {
    expect(problemsOf({ TRUST_PROXY: '1' })).toEqual([
      'TRUST_PROXY: 1 is neither an address nor a network, such as 10.0.0.1 or 10.0.0.0/8 (got "1")',
    ]);
  });

  it('requires SECRET_KEY beside DATABASE_URL', () => {
    expect(problemsOf({ DATABASE_URL: 'postgres://u@h/d' })).toEqual([
      'SECRET_KEY: is required with DATABASE_URL (at least 32 characters)',
    ]);
  });

  it('lists the missing SECRET_KEY with the other problems', () => {
    const problems = problemsOf({ DATABASE_URL: 'postgres://u@h/d', PORT: 'eighty' });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['PORT', 'SECRET_KEY']);
  });

  it('does not require SECRET_KEY for operator commands', () => {
    const config = loadOperatorConfig({ DATABASE_URL: 'postgres://u@h/d' });
    expect(config).toMatchObject({ databaseUrl: 'postgres://u@h/d', secretKeys: undefined });
  });

  it.each(['tiny', 'a-secret-key-0123456789-0123456789,tiny', ',', ' '])(
    'refuses SECRET_KEY %j',
    (SECRET_KEY) => {
      expect(problemsOf({ SECRET_KEY })).toEqual([
        expect.stringMatching(/^SECRET_KEY: .*at least 32 characters$/),
      ]);
    },
  );

  it('requires DATABASE_URL for a split role', () => {
    expect(problemsOf({ ROLE: 'worker' })).toEqual(['ROLE: worker needs DATABASE_URL']);
  });

  it('strips the trailing slash of a base URL', () => {
    expect(loadConfig({ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/' }).openaiBaseUrl).toBe(
      'http://127.0.0.1:9/v1',
    );
  });
});
