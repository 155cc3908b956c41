import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A proxy before the test's PostgreSQL that can be cut. */
export interface DatabaseProxy {
  /** The URL of a database through the proxy. */
  through(databaseUrl: string): string;
  /** Cuts every connection and accepts no new one. */
  cut(): Promise<void>;
  /** Stops passing bytes on the present connections. New connections work. */
  freeze(): void;
  /** As {@link freeze}, and new connections get no byte either, until {@link cut}. */
  hang(): void;
  /** Accepts connections again. */
  mend(): Promise<void>;
  /** Connections under way. */
  readonly connections: number;
  stop(): Promise<void>;
}

/** Starts one before the server of a database URL, over TCP or its Unix socket. */
export async function startDatabaseProxy(serverUrl: string): Promise<DatabaseProxy> {
  const { hostname, port, searchParams } = new URL(serverUrl);
  const directory = searchParams.get('host');
  const target =
    directory === null
      ? { host: hostname, port: Number(port || 5432) }
      : { path: `${directory}/.s.PGSQL.${searchParams.get('port') ?? (port || '5432')}` };
  const sockets = new Set<Socket>();
  let isHanging = false;
  const server = createServer((client) => {
    if (isHanging) {
      sockets.add(client);
      client.on('error', () => undefined).on('close', () => sockets.delete(client));
      return;
    }
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
      from.pipe(to);
    }
  });
  const listen = async (at: number) => {
    await once(server.listen(at, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  const ownPort = await listen(0);
  const cut = async () => {
    isHanging = false;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const freeze = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return {
    through(databaseUrl) {
      const url = new URL(databaseUrl);
      url.searchParams.delete('host');
      url.searchParams.delete('port');
      url.hostname = '127.0.0.1';
      url.port = String(ownPort);
      return url.href;
    },
    cut,
    freeze,
    hang() {
      isHanging = true;
      freeze();
    },
    get connections() {
      return sockets.size / 2;
    },
    async mend() {
      await listen(ownPort);
    },
    async stop() {
      if (server.listening) await cut();
    },
  };
}
