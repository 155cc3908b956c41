import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { SsrfSafeDialer } from '../../src/platform/http-client/ssrf-safe-dialer.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { makeCertificate } from './certificate.js';

const TLS_PORTS: ReadonlySet<number> = new Set([443, 8443]);

/** Answers one request whose head was `head` by writing raw bytes. */
export type RawAnswer = (socket: Socket, head: string) => void;

/** A whole HTTP/1.1 answer as text. */
export function answer(status: number, headers: readonly string[] = [], body = ''): string {
  const lines = [`HTTP/1.1 ${status} Stub`, `Content-Length: ${body.length}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/**
 * A small internet on loopback: names resolve by `names`, every public address leads to one raw TCP server (TLS on
 * ports 443 and 8443), and each connection is recorded under the address it was meant for.
 */
export class StubWeb {
  readonly names = new Map<string, () => readonly string[]>([
    ['example.com', () => ['93.184.216.34']],
  ]);
  /** `address:port` of every connection, in order. */
  readonly dials: string[] = [];
  /** Request heads as they arrived. */
  readonly heads: string[] = [];
  /** What the socket says about its far end when that is not the dialled address. */
  reportedAddress: string | undefined;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly plain: Server,
    private readonly tls: Server,
    private readonly ca: string,
  ) {}

  static async start(
    raw: RawAnswer,
    certificate = makeCertificate(['example.com', '93.184.216.34']),
  ) {
    const serve = (socket: Socket): void => {
      socket.on('error', () => undefined);
      let head = '';
      socket.on('data', (chunk: Buffer) => {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        web.heads.push(head);
        raw(socket, head);
        head = '';
      });
    };
    const tls = createTlsServer(certificate, serve).on('tlsClientError', () => undefined);
    const web = new StubWeb(createServer(serve), tls, certificate.cert);
    for (const server of [web.plain, web.tls]) {
      server.on('connection', (socket: Socket) => {
        web.sockets.add(socket);
        socket.once('close', () => web.sockets.delete(socket));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    return web;
  }

  /** Connections still open on the server's side. */
  get openSockets(): number {
    return this.sockets.size;
  }

  /** A dialer that lives in this internet and trusts its certificate. */
  dialer(rules = EgressRules.none, ca = this.ca): SsrfSafeDialer {
    return new SsrfSafeDialer({
      rules,
      ca,
      resolve: (name) => Promise.resolve(this.names.get(name)?.() ?? []),
      dial: (addresses, port) => this.dial(addresses[0] ?? '', port),
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    for (const server of [this.plain, this.tls]) {
      server.close();
      await once(server, 'close');
    }
  }

  private dial(address: string, port: number): Socket {
    this.dials.push(`${address}:${port}`);
    const server = TLS_PORTS.has(port) ? this.tls : this.plain;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    Object.defineProperty(socket, 'remoteAddress', { value: this.reportedAddress ?? address });
    return socket;
  }
}
