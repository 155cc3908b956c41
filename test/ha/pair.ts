import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { freePort } from '../support/process.js';
import { ReplicatedPostgres } from '../support/replicated-postgres.js';
import { until } from '../support/until.js';

/** A leader and a standby that it waits for, at two ports that stay. */
export class LeaderPair {
  /** By port, the port that answers whether this server leads, as Patroni's REST API does. */
  readonly checks = new Map<number, number>();
  private readonly agents: Server[] = [];

  private constructor(
    public leader: ReplicatedPostgres,
    public standby: ReplicatedPostgres,
  ) {}

  static async start(): Promise<LeaderPair> {
    const leader = await ReplicatedPostgres.start();
    await leader.query('CREATE DATABASE shim');
    const pair = new LeaderPair(leader, await leader.standby());
    for (const { port } of [pair.leader, pair.standby]) await pair.addAgent(port);
    await pair.waitForStandby();
    return pair;
  }

  get hosts(): string {
    return [...this.checks.keys()].map((port) => `127.0.0.1:${port}`).join(',');
  }

  /** What is wrong with the leader happens, and the standby leads. Commits that the leader confirmed are on it. */
  async failOver(how: 'kill' | 'hang' | 'switch-over'): Promise<void> {
    const { leader, standby } = this;
    if (how === 'kill') await leader.signal('SIGKILL');
    if (how === 'hang') await leader.signal('SIGSTOP');
    if (how === 'switch-over') await leader.stop();
    await standby.promote();
    this.leader = standby;
    this.standby = leader;
  }

  /** Removes the old leader and makes a new standby at its port. */
  async rebuild(): Promise<void> {
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
