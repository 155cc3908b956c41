import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../../../test/support/process.js';
import { databaseUrlsOf } from '../../common/database-urls.js';
import { createDataSource } from './data-source.js';
import { Database } from './database.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';

describe('a URL of several servers', () => {
  it('names them in their order, and those that take no writes are passed over', () => {
    expect(databaseUrlsOf('postgres://u:p@a:1,b/db?sslmode=require')).toEqual({
      urls: ['postgres://u:p@a:1/db?sslmode=require', 'postgres://u:p@b/db?sslmode=require'],
      mustWrite: true,
    });
    expect(databaseUrlsOf('postgres://u@a/db?target_session_attrs=read-write')).toEqual({
      urls: ['postgres://u@a/db'],
      mustWrite: true,
    });
    expect(databaseUrlsOf('postgres://u@a/db')).toEqual({
      urls: ['postgres://u@a/db'],
      mustWrite: false,
    });
  });
});

describe('a gateway with several servers', () => {
  const folders: string[] = [];
  const servers: EmbeddedPostgres[] = [];

  async function serverWith(settings: Readonly<Record<string, string>>): Promise<string> {
    const dataDir = await mkdtemp(join(tmpdir(), 'shim-several-'));
    await chmod(dataDir, 0o755);
    folders.push(dataDir);
    const server = await EmbeddedPostgres.start({ dataDir, settings });
    servers.push(server);
    return new URL(server.url).searchParams.get('host') ?? '';
  }

  let readOnly: string;
  let writable: string;
  beforeAll(async () => {
    readOnly = await serverWith({ default_transaction_read_only: 'on' });
    writable = await serverWith({});
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  const urlOf = (...hosts: string[]) =>
    `postgresql://shim@localhost/postgres?host=${hosts.map(encodeURIComponent).join(',')}&port=5432`;

  it('starts on the writable server, after one that is down and one that is read-only', async () => {
    const away = `/nonexistent-${await freePort()}`;
    const databaseUrl = urlOf(away, readOnly, writable);
    const gateway = new Database({ databaseUrl, dataDir: '/nonexistent' });
    const dataSource = await gateway.open();
    const place = await dataSource.query(`SELECT current_setting('unix_socket_directories') AS at`);
    expect(place).toEqual([{ at: writable }]);
    await gateway.close();
  });

  it('of which only one is named is refused where it has to take writes and does not', async () => {
    const url = `${urlOf(readOnly)}&target_session_attrs=read-write`;
    await expect(createDataSource({ url }).initialize()).rejects.toMatchObject({ code: '25006' });
  });
});
