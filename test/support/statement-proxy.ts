import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PassedStatements, WholeAnswers } from './postgres-messages.js';

/** A statement as it is sent: its name, its text and its parameters; and what its answer says, if that matters. */
export interface Passage {
  readonly says: RegExp;
  readonly answers?: RegExp;
}

/** A place in the traffic of a gateway: after the statements of `past` were answered in turn, before or after the one of `at`. */
export interface Edge {
  readonly past: readonly Passage[];
  readonly at: Passage;
  readonly side: 'before' | 'after';
}

/** A proxy before the test's PostgreSQL that reads what passes. */
export interface StatementProxy {
  /** The URL of a database through the proxy. */
  through(databaseUrl: string): string;
  /**
   * Calls `reached` once the traffic is at the edge. The statement is then not passed on, or its answer is not, and nothing
   * more passes on any connection that is open by then.
   */
  watch(edge: Edge, reached: () => void): void;
  stop(): Promise<void>;
}

interface Watch {
  readonly edge: Edge;
  readonly reached: () => void;
  passed: number;
}

interface Connection {
  isOver: boolean;
}

/** Starts one before the server of a database URL, over TCP or its Unix socket. */
export async function startStatementProxy(serverUrl: string): Promise<StatementProxy> {
  const { hostname, port, searchParams } = new URL(serverUrl);
  const directory = searchParams.get('host');
  const target =
    directory === null
      ? { host: hostname, port: Number(port || 5432) }
      : { path: `${directory}/.s.PGSQL.${searchParams.get('port') ?? (port || '5432')}` };
  const sockets = new Set<Socket>();
  const connections = new Set<Connection>();
  let watch: Watch | undefined;
  const server = createServer((client) => {
    const upstream = connect(target);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
    }
    const connection = { isOver: false };
    connections.add(connection);
    client.on('close', () => connections.delete(connection));
    passOn(client, upstream, connection, () => watch);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    through(databaseUrl) {
      const url = new URL(databaseUrl);
      url.searchParams.delete('host');
      url.searchParams.delete('port');
      url.hostname = '127.0.0.1';
      url.port = String((server.address() as AddressInfo).port);
      return url.href;
    },
    watch(edge, reached) {
      const stopped = (): void => {
        for (const connection of connections) connection.isOver = true;
        reached();
      };
      watch = { edge, reached: stopped, passed: 0 };
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function passOn(
  client: Socket,
  upstream: Socket,
  connection: Connection,
  watching: () => Watch | undefined,
): void {
  const statements = new PassedStatements();
  const answers = new WholeAnswers();
  let asked = '';
  const end = (watch: Watch): void => {
    watch.passed += 1;
    watch.reached();
  };
  client.on('data', (bytes) => {
    for (const { bytes: sent, statement } of statements.read(bytes)) {
      const watch = watching();
      if (statement !== undefined) asked = statement;
      if (watch && statement !== undefined && isAt(watch, 'before', asked)) end(watch);
      if (connection.isOver) return;
      upstream.write(sent);
    }
  });
  upstream.on('data', (bytes) => {
    for (const answer of answers.read(bytes)) {
      const watch = watching();
      if (watch && isNext(watch, asked, answer)) {
        if (isAt(watch, 'after', asked)) end(watch);
        else if (watch.passed < watch.edge.past.length) watch.passed += 1;
      }
      if (connection.isOver) return;
      client.write(answer);
    }
  });
}

function isAt({ edge, passed }: Watch, side: Edge['side'], asked: string): boolean {
  return edge.side === side && passed === edge.past.length && edge.at.says.test(asked);
}

function isNext({ edge, passed }: Watch, asked: string, answer: Buffer): boolean {
  const passage = passed === edge.past.length ? edge.at : edge.past[passed];
  if (!passage?.says.test(asked)) return false;
  return passage.answers?.test(answer.toString('latin1')) ?? true;
}
