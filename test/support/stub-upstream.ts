import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the stub received it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

type Reply = (response: ServerResponse, request: SeenRequest) => unknown;

/**
 * A real HTTP server on loopback that plays a provider: records what it gets and answers as the
 * test says.
 */
export class StubUpstream {
  readonly seen: SeenRequest[] = [];
  /** Connections the client closed before the answer was complete. */
  aborted = 0;
  reply: Reply = (response) => response.end();
  private readonly server: Server = createServer((request, response) => {
    void this.handle(request, response);
  });

  static async start(): Promise<StubUpstream> {
    const stub = new StubUpstream();
    await once(stub.server.listen(0, '127.0.0.1'), 'listening');
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The one request seen. */
  get only(): SeenRequest {
    if (this.seen.length !== 1) throw new Error(`${this.seen.length} requests seen`);
    return this.seen[0]!;
  }

  /** Resolves when a client has closed a connection before the answer was complete. */
  async untilAborted(): Promise<void> {
    while (this.aborted === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) this.aborted += 1;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: Buffer.concat(chunks) };
    this.seen.push(seen);
    this.reply(response, seen);
  }
}
