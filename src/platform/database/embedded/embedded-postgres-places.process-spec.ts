import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedGateways, query, SOURCE } from '../../../../test/support/embedded-gateways.js';

const NAMED_USER = 65_534;
const NAMELESS_USER = 54_321;
const isRoot = process.getuid?.() === 0;
const othersCanReadUs =
  isRoot && spawnSync('test', ['-r', SOURCE.pathname], { uid: NAMED_USER }).status === 0;
const itWithOtherUsers = othersCanReadUs ? it : it.skip;
/** Many containers forbid user namespaces. */
const maps = (identity: { uid?: number }): boolean =>
  spawnSync('unshare', ['--user', '--map-user=1', 'true'], identity).status === 0;
const itMapped = maps({}) ? it : it.skip;
const itMappedWithOtherUsers = othersCanReadUs && maps({ uid: NAMED_USER }) ? it : it.skip;

describe('EmbeddedPostgres, wherever its data directory is and whoever runs it', () => {
  const { places, start, startGateway } = embeddedGateways();

  it('starts over a creation that was cut short', async () => {
    places.dataDir = join(places.root, 'cut');
    await mkdir(join(places.dataDir, 'postgres.unfinished', 'base'), { recursive: true });
    const server = await start();
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('serves a data directory whose path is too long for a socket', async () => {
    places.dataDir = join(places.root, 'long'.repeat(40));
    const server = await start();
    const socketDirectory = new URL(server.url).searchParams.get('host')!;
    expect(socketDirectory.startsWith('/tmp/shim-postgres-')).toBe(true);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    await rm(socketDirectory, { recursive: true });
  });

  itMapped('serves a data directory below one that only its owner may enter', async () => {
    places.dataDir = join(places.root, 'private', 'data');
    await mkdir(join(places.root, 'private'), { mode: 0o700 });
    const server = await start();
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  itWithOtherUsers('runs for an ordinary user', () => servesFor(NAMED_USER));

  itMappedWithOtherUsers('runs for a user id without a name', () => servesFor(NAMELESS_USER));

  async function servesFor(uid: number): Promise<void> {
    places.dataDir = join(places.root, `of-${uid}`);
    await mkdir(places.dataDir);
    await chown(places.dataDir, uid, uid);
    const { url } = await startGateway({ uid });
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  }
});
