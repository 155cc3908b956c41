import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { PROCESS_TEST_TIMEOUT_MS } from '../../../test/support/process.js';
import { ReplicatedPostgres } from '../../../test/support/replicated-postgres.js';
import { until } from '../../../test/support/until.js';
import { createDataSource } from '../database/data-source.js';
import { Metrics } from '../observability/metrics.js';
import { runMigrations } from '../database/run-migrations.js';
import { FiguresLeader } from './figures-leader.js';
import type { Scheduler } from './scheduler.js';
import { StandbyMetrics } from './standby-metrics.js';

const describeWithPostgres = ReplicatedPostgres.programs === undefined ? describe.skip : describe;

describeWithPostgres('StandbyMetrics', () => {
  let leader: ReplicatedPostgres;
  let standby: ReplicatedPostgres;
  let ofWatcher: DataSource;
  let ofRole: DataSource;
  let ofOwner: DataSource;

  beforeAll(async () => {
    leader = await ReplicatedPostgres.start();
    standby = await leader.standby();
    await leader.query('CREATE ROLE shim_run LOGIN');
    await leader.query('CREATE ROLE shim_watch LOGIN IN ROLE pg_monitor');
    const as = (username: string): Promise<DataSource> =>
      createDataSource({
        url: Object.assign(new URL(leader.url()), { username }).href,
      }).initialize();
    ofRole = await as('shim_run');
    ofOwner = await as('shim');
    await runMigrations(ofOwner);
    ofWatcher = await as('shim_watch');
  }, PROCESS_TEST_TIMEOUT_MS);
  afterAll(async () => {
    await ofWatcher.destroy();
    await ofRole.destroy();
    await ofOwner.destroy();
    await standby.remove();
    await leader.remove();
  }, PROCESS_TEST_TIMEOUT_MS);

  /** What a process of this role publishes: standbys, those a commit waits for, whether one is awaited. */
  const shown = async (
    dataSource: DataSource,
    isLeader = true,
  ): Promise<(number | undefined)[]> => {
    const metrics = new Metrics();
    metrics.publishDatabaseWhile(() => isLeader);
    const standbys = new StandbyMetrics(dataSource, metrics, {} as Scheduler);
    await standbys.tick();
    const text = await metrics.registry.metrics();
    return ['', '_synchronous', '_awaited'].map((part) => {
      const found = new RegExp(`^gateway_database_standbys${part} (\\d+)$`, 'm').exec(text);
      return found ? Number(found[1]) : undefined;
    });
  };
  const awaitNames = async (names: string): Promise<void> => {
    await leader.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await leader.query('SELECT pg_reload_conf()');
  };

  it(
    'tells of a standby that nobody waits for, of one that is waited for, and of one that is lost',
    async () => {
      await until(async () => (await shown(ofWatcher))[0] === 1);
      expect(await shown(ofWatcher)).toEqual([1, 0, 0]);
      await awaitNames('*');
      await until(async () => (await shown(ofWatcher))[1] === 1);
      expect(await shown(ofWatcher)).toEqual([1, 1, 1]);
      expect(await shown(ofRole)).toEqual([1, undefined, 1]);
      // From now on no commit ends.
      await awaitNames('another');
      await until(async () => (await shown(ofWatcher))[1] === 0);
      expect(await shown(ofWatcher)).toEqual([1, 0, 1]);
      const election = new FiguresLeader(ofOwner, {} as Scheduler, new Metrics());
      await election.stand();
      expect(election.isLeader).toBe(true);
      await standby.signal('SIGKILL');
      await until(async () => (await shown(ofRole))[0] === 0);
      expect(await shown(ofWatcher)).toEqual([0, 0, 1]);
      expect(await shown(ofRole)).toEqual([0, undefined, 1]);
      expect(await shown(ofWatcher, false)).toEqual([undefined, undefined, undefined]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
