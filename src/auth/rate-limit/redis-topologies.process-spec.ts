import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  cleanUp,
  freePort,
  PROCESS_TEST_TIMEOUT_MS,
  runProgram,
  temporaryFolder,
} from '../../../test/support/process.js';
import { RedisServer } from '../../../test/support/redis-server.js';
import { systemProgram } from '../../../test/support/system-program.js';
import { until } from '../../../test/support/until.js';
import { SystemClock } from '../../common/time/clock.js';
import { RedisBuckets } from './redis-buckets.js';

const cli = systemProgram('redis-cli');
const describeWithRedis =
  RedisServer.program === undefined || cli === undefined ? describe.skip : describe;
const SENTINELS = 3;
/** Tests in parallel delay answers. */
const SLOW_MACHINE_MS = 2_000;

describeWithRedis('buckets in several servers', () => {
  const open: RedisBuckets[] = [];
  const told: string[] = [];
  const connect = (url: string): RedisBuckets => {
    const listener = {
      lost: ({ message }: Error) => told.push(message),
      found: () => told.push('found'),
    };
    const buckets = new RedisBuckets(url, new SystemClock(), listener, SLOW_MACHINE_MS);
    open.push(buckets);
    return buckets;
  };
  const list = (ports: readonly number[]) => ports.map((port) => `127.0.0.1:${port}`).join(',');
  afterAll(async () => {
    for (const buckets of open) buckets.close();
    await cleanUp();
  }, PROCESS_TEST_TIMEOUT_MS);

  it(
    'follow the primary of sentinels when it is killed under load',
    async () => {
      const primary = await RedisServer.start();
      const { port } = primary.address;
      await RedisServer.start('--replicaof', '127.0.0.1', String(port));
      const ports: number[] = [];
      for (let nr = 0; nr < SENTINELS; nr += 1) {
        const own = await freePort();
        const folder = await temporaryFolder();
        const file = join(folder, 'sentinel.conf');
        await writeFile(
          file,
          `port ${own}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor limits 127.0.0.1 ${port} 2
sentinel down-after-milliseconds limits 1000\nsentinel failover-timeout limits 5000\n`,
        );
        runProgram([RedisServer.program ?? '', file, '--sentinel']);
        ports.push(own);
      }
      const knows = async (own = 0) => {
        const asked = runProgram([cli ?? '', '-p', String(own), 'sentinel', 'master', 'limits']);
        await asked.exited;
        return asked.stdout().includes('num-slaves\n1\nnum-other-sentinels\n2\n');
      };
      await until(async () => (await Promise.all(ports.map(knows))).every(Boolean));
      const [here, there] = [0, 1].map(() => connect(`redis+sentinel://${list(ports)}/limits/0`));
      if (!here || !there) throw new Error('no buckets');
      await Promise.all([here.ready(), there.ready()]);
      expect((await here.take('one', 1)).allowed).toBe(true);
      expect((await there.take('one', 1)).allowed).toBe(false);
      await primary.kill();
      await until(async () => {
        expect((await here.take('load', 100_000_000)).allowed).toBe(true);
        return told.length > 0;
      });
      await until(async () => {
        expect((await here.take('load', 100_000_000)).allowed).toBe(true);
        return here.isUp && there.isUp;
      }, PROCESS_TEST_TIMEOUT_MS / 2);
      expect((await here.take('two', 1)).allowed).toBe(true);
      expect((await there.take('two', 1)).allowed).toBe(false);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  describe('in a cluster of three', () => {
    let ports: number[];
    beforeAll(async () => {
      const options = ['--cluster-enabled', 'yes', '--cluster-port'];
      const nodes: RedisServer[] = [];
      for (let nr = 0; nr < 3; nr += 1) {
        nodes.push(await RedisServer.start(...options, String(await freePort())));
      }
      ports = nodes.map(({ address }) => address.port);
      const addresses = list(ports).split(',');
      const made = runProgram([cli ?? '', '--cluster', 'create', ...addresses, '--cluster-yes']);
      expect(await made.exited).toMatchObject({ code: 0 });
    }, PROCESS_TEST_TIMEOUT_MS);

    it('are shared on every node', async () => {
      const url = `redis+cluster://${list(ports)}`;
      const [here, there] = [connect(url), connect(url)];
      await Promise.all([here.ready(), there.ready()]);
      await until(() => here.isUp && there.isUp);
      for (let bucket = 0; bucket < 30; bucket += 1) {
        expect((await here.take(`key-${bucket}`, 1)).allowed).toBe(true);
        expect((await there.take(`key-${bucket}`, 1)).allowed).toBe(false);
      }
    });

    it('are kept by the process and told once where the URL names one node', async () => {
      const buckets = connect(`redis://${list(ports.slice(0, 1))}`);
      await buckets.ready();
      told.length = 0;
      for (let bucket = 0; bucket < 30; bucket += 1) {
        expect((await buckets.take(`alone-${bucket}`, 1)).allowed).toBe(true);
      }
      expect(told).toEqual([expect.stringMatching(/^MOVED /)]);
      expect(buckets.isUp).toBe(false);
    });
  });
});
