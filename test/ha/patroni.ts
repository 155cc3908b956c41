import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import {
  freePort,
  type Program,
  processesIn,
  runProgram,
  temporaryFolder,
} from '../support/process.js';
import { ReplicatedPostgres } from '../support/replicated-postgres.js';
import { systemProgram } from '../support/system-program.js';
import { until } from '../support/until.js';
import type { Disaster, LeadingCluster } from './pair.js';

const FILE = fileURLToPath(new URL('../../deploy/patroni/patroni.yml', import.meta.url));
const START_MS = 120_000;
/** Longer than `ttl` and `loop_wait` of the file together. */
const PROMOTION_MS = 60_000;
const ASK_MS = 2_000;
const PASSWORD = 'shim';
const NOBODY = 65_534;

interface Member {
  readonly name: string;
  readonly folder: string;
  readonly etcdPort: number;
  readonly port: number;
  /** Port of its REST API. */
  readonly restPort: number;
  program: Program;
}

/** Two members of Patroni with etcd on loopback, with the file of `deploy`. Patroni itself chooses the leader. */
export class PatroniPair implements LeadingCluster {
  readonly password = PASSWORD;
  private lost: Member | undefined;

  private constructor(
    private readonly etcd: Program,
    private readonly members: readonly Member[],
  ) {}

  /** `onStart` gets it before it is ready, to remove it also where it never is. */
  static async start(onStart: (pair: PatroniPair) => void): Promise<PatroniPair> {
    const etcdPort = await freePort();
    const etcd = await startEtcd(etcdPort);
    const members: Member[] = [];
    for (const name of ['db-1', 'db-2']) members.push(await newMember(name, etcdPort));
    const pair = new PatroniPair(etcd, members);
    onStart(pair);
    await until(async () => (await pair.leads()) !== undefined, START_MS);
    await pair.query('CREATE DATABASE shim');
    await pair.waitForStandby();
    return pair;
  }

  get hosts(): string {
    return this.members.map(({ port }) => `127.0.0.1:${port}`).join(',');
  }

  get url(): string {
    return `postgresql://shim:${PASSWORD}@${this.hosts}/shim?target_session_attrs=read-write`;
  }

  /** By the port of each server, the port of its REST API. */
  get checks(): ReadonlyMap<number, number> {
    return new Map(this.members.map(({ port, restPort }) => [port, restPort]));
  }

  async failOver(how: Disaster): Promise<void> {
    const leader = await this.leads();
    if (leader === undefined) throw new Error('no member leads');
    this.lost = leader;
    if (how === 'switch-over') await switchOver(leader);
    else await signal(leader, how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
    await until(async () => {
      const now = await this.leads();
      return now !== undefined && now !== leader;
    }, PROMOTION_MS);
  }

  /** The former leader follows again: Patroni rewinds it, or copies the data anew. */
  async rebuild(): Promise<void> {
    const { lost } = this;
    if (lost?.program.child.signalCode != null) lost.program = startPatroni(lost);
    else if (lost !== undefined) await signal(lost, 'SIGCONT');
    await this.waitForStandby();
  }

  async remove(): Promise<void> {
    for (const member of this.members) await signal(member, 'SIGKILL');
    await this.etcd.end('SIGKILL');
  }

  /** The member that says of itself that it leads; one that hangs says nothing. */
  private async leads(): Promise<Member | undefined> {
    const answers = await Promise.all(this.members.map((member) => says(member, 'primary')));
    return this.members[answers.indexOf(true)];
  }

  /** From now on a commit is confirmed once the standby has it. */
  private async waitForStandby(): Promise<void> {
    const follows = `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`;
    await until(
      () =>
        this.query(follows).then(
          (rows) => rows > 0,
          () => false,
        ),
      START_MS,
    );
  }

  /** How many rows a statement has at the leader. */
  private async query(statement: string): Promise<number> {
    const { port } = (await this.leads()) ?? {};
    const connectionString = `postgresql://shim:${PASSWORD}@127.0.0.1:${port}/postgres`;
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: ASK_MS });
    client.on('error', () => undefined);
    await client.connect();
    const { rowCount } = await client.query(statement).finally(() => client.end());
    return rowCount ?? 0;
  }
}

/** The programs that this needs, where all are installed. */
export function patroniPrograms(): { readonly patroni: string; readonly etcd: string } | undefined {
  const [patroni, etcd] = [systemProgram('patroni'), systemProgram('etcd')];
  return patroni !== undefined && etcd !== undefined ? { patroni, etcd } : undefined;
}

function programs() {
  const found = patroniPrograms();
  if (found === undefined) throw new Error('Patroni or etcd is not installed');
  return found;
}

async function startEtcd(port: number): Promise<Program> {
  const home = await temporaryFolder();
  const peer = `http://127.0.0.1:${await freePort()}`;
  const clients = `http://127.0.0.1:${port}`;
  const options = {
    'data-dir': join(home, 'data'),
    'listen-client-urls': clients,
    'advertise-client-urls': clients,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
    // Otherwise the default of several machines: a busy machine would have it vote again and again.
    'heartbeat-interval': '500',
    'election-timeout': '5000',
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  return runProgram([programs().etcd, ...args]);
}

async function newMember(name: string, etcdPort: number): Promise<Member> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'data'), { mode: 0o700 });
  if (process.getuid?.() === 0)
    for (const path of [folder, join(folder, 'data')]) await chown(path, NOBODY, NOBODY);
  const ports = { port: await freePort(), restPort: await freePort() };
  const member = { name, folder, etcdPort, ...ports };
  return { ...member, program: startPatroni(member) };
}

function startPatroni(member: Omit<Member, 'program'>): Program {
  const { name, folder, etcdPort, port, restPort } = member;
  const [rest, postgres] = [`127.0.0.1:${restPort}`, `127.0.0.1:${port}`];
  const settings = {
    PATRONI_NAME: name,
    PATRONI_ETCD3_HOSTS: `127.0.0.1:${etcdPort}`,
    PATRONI_RESTAPI_LISTEN: rest,
    PATRONI_RESTAPI_CONNECT_ADDRESS: rest,
    PATRONI_POSTGRESQL_LISTEN: postgres,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: postgres,
    PATRONI_POSTGRESQL_DATA_DIR: join(folder, 'data'),
    PATRONI_POSTGRESQL_BIN_DIR: ReplicatedPostgres.programs ?? '',
    PATRONI_POSTGRESQL_PGPASS: join(folder, 'pgpass'),
    PATRONI_SUPERUSER_USERNAME: 'shim',
    PATRONI_SUPERUSER_PASSWORD: PASSWORD,
    PATRONI_RESTAPI_USERNAME: 'operator',
    PATRONI_RESTAPI_PASSWORD: PASSWORD,
    PATRONI_REPLICATION_USERNAME: 'follower',
    PATRONI_REPLICATION_PASSWORD: PASSWORD,
    HOME: folder,
    LC_ALL: 'C.UTF-8',
  };
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  return runProgram([programs().patroni, FILE], settings, identity);
}

async function switchOver({ name, restPort }: Member): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${restPort}/switchover`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`operator:${PASSWORD}`).toString('base64')}`,
    },
    body: JSON.stringify({ leader: name }),
  });
  if (!answer.ok) throw new Error(`Patroni: ${answer.status} ${await answer.text()}`);
}

/** Whether the REST API of a member answers the question with 200. */
async function says({ restPort }: Member, question: string): Promise<boolean> {
  const url = `http://127.0.0.1:${restPort}/${question}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(ASK_MS) }).catch(() => undefined);
  return answer?.status === 200;
}

/** Signals Patroni first, so that it does not start the server again, and then all processes of the server. */
async function signal(
  { program, folder }: Member,
  name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT',
): Promise<void> {
  program.child.kill(name);
  for (const pid of await processesIn(join(folder, 'data'))) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile.
    }
  }
  if (name === 'SIGKILL') await program.exited;
}
