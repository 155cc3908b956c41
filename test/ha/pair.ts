import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/process.js';
import { ReplicatedPostgres } from '../support/replicated-postgres.js';
import { until } from '../support/until.js';

const LAG_MS = 5_000;
const FULL_MS = 5_000;
/** More than `max_wal_size` has, and how long the load takes to write into each. */
const SEGMENTS = 16;
const SWITCH_MS = 200;
const RECOVERED_MS = 60_000;
/** Written until the disk takes no more. */
const FILLER_BYTES = 1024 * 1024;

/** What happens to a cluster. After the last two the same server leads. */
export type Disaster = 'kill' | 'hang' | 'switch-over' | 'lag' | 'full disk';

/** A cluster of PostgreSQL of which one server leads. */
export interface LeadingCluster {
  /** The URL of the database of the gateways, at the server that leads. */
  readonly url: string;
  /** It happens; resolves once a server leads. Commits that were confirmed are on it. */
  failOver(how: Disaster): Promise<void>;
  /** Makes it whole again: a leader, and a standby that it waits for. */
  rebuild(): Promise<void>;
}

/** A leader and a standby that it waits for, at two ports that stay. */
export class LeaderPair implements LeadingCluster {
  /** By port, the port that answers whether this server leads, as Patroni's REST API does. */
  readonly checks = new Map<number, number>();
  private readonly agents: Server[] = [];

  private constructor(
    public leader: ReplicatedPostgres,
    public standby: ReplicatedPostgres,
    private readonly disk: string | undefined,
  ) {}

  /** `disk`: a small one, for the data of the first leader. */
  static async start(disk?: string): Promise<LeaderPair> {
    // A standby that is behind finds the log of the time that the leader could not tell it.
    const small = disk === undefined ? {} : { max_wal_size: '64MB', wal_keep_size: '256MB' };
    const leader = await ReplicatedPostgres.start(small, disk);
    await leader.query('CREATE DATABASE shim');
    const pair = new LeaderPair(leader, await leader.standby(), disk);
    for (const { port } of [pair.leader, pair.standby]) await pair.addAgent(port);
    await pair.waitForStandby();
    return pair;
  }

  get hosts(): string {
    return [...this.checks.keys()].map((port) => `127.0.0.1:${port}`).join(',');
  }

  get url(): string {
    return this.leader.url('shim');
  }

  async failOver(how: Disaster): Promise<void> {
    const { leader, standby } = this;
    if (how === 'lag') return this.lag();
    if (how === 'full disk') return this.fillDisk();
    if (how === 'kill') await leader.signal('SIGKILL');
    if (how === 'hang') await leader.signal('SIGSTOP');
    if (how === 'switch-over') await leader.stop();
    await standby.promote();
    this.leader = standby;
    this.standby = leader;
  }

  /** The standby confirms nothing for a while, so no commit ends. */
  private async lag(): Promise<void> {
    await this.standby.signal('SIGSTOP');
    await sleep(LAG_MS);
    await this.standby.signal('SIGCONT');
  }

  /** The disk of the leader takes nothing for a while. A leader that ended is started again, as an operator does. */
  private async fillDisk(): Promise<void> {
    const filler = join(this.disk ?? '', 'filler');
    const piece = Buffer.alloc(FILLER_BYTES);
    for (let isFull = false; !isFull;) {
      isFull = await writeFile(filler, piece, { flag: 'a' }).then(
        () => false,
        () => true,
      );
    }
    await this.useUpLog();
    await sleep(FULL_MS);
    await rm(filler);
    // It recovers by itself, or has ended.
    await until(async () => {
      if (this.leader.hasEnded) return true;
      return this.leader.query('SELECT 1').then(
        () => true,
        () => false,
      );
    }, RECOVERED_MS);
    if (this.leader.hasEnded) await this.leader.startAgain();
  }

  /** Fills the segments of the log that exist already, until the server ends because it can make no more. */
  private async useUpLog(): Promise<void> {
    for (let segment = 0; segment < SEGMENTS; segment += 1) {
      const switched = this.leader.query('SELECT pg_switch_wal()').then(
        () => true,
        () => false,
      );
      if (!(await switched)) return;
      await sleep(SWITCH_MS);
    }
  }

  /** Removes the old leader, if another one leads, and makes a new standby at its port. */
  async rebuild(): Promise<void> {
    const rows = await this.leader.query<{ state: string }>(
      'SELECT state FROM pg_stat_replication',
    );
    if (rows.length > 0) return;
    const { port } = this.standby;
    await this.standby.remove();
    this.standby = await this.leader.standby(port);
    await this.waitForStandby();
  }

  async remove(): Promise<void> {
    for (const agent of this.agents) {
      agent.closeAllConnections();
      agent.close();
    }
    await this.standby.remove();
    await this.leader.remove();
  }

  /** From now on a commit is confirmed once the standby has it. */
  private async waitForStandby(): Promise<void> {
    await this.leader.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await this.leader.query('SELECT pg_reload_conf()');
    await this.standby.query('ALTER SYSTEM RESET synchronous_standby_names');
    await this.standby.query('SELECT pg_reload_conf()');
    await until(async () => {
      const rows = await this.leader.query<{ sync_state: string }>(
        'SELECT sync_state FROM pg_stat_replication',
      );
      return rows.some(({ sync_state: state }) => state === 'sync');
    });
  }

  private async addAgent(port: number): Promise<void> {
    const agent = createServer((_request, response) => {
      response.writeHead(this.leader.port === port ? 200 : 503).end();
    }).on('error', () => undefined);
    const check = await freePort();
    await once(agent.listen(check, '127.0.0.1'), 'listening');
    this.agents.push(agent);
    this.checks.set(port, check);
  }
}
