import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A delivery as it arrived. */
export interface ReceivedDelivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly atMs: number;
}

/** What a receiver does with a delivery; a number is answered as the status. */
type Reaction = number | ((response: ServerResponse, delivery: ReceivedDelivery) => void);

/** A caller's server for webhooks, on loopback. */
export interface WebhookReceiver {
  readonly url: string;
  /** The `EGRESS_ALLOW` value with which a gateway reaches it. */
  readonly settings: { readonly EGRESS_ALLOW: string };
  readonly received: ReceivedDelivery[];
  /** How it answers from now on. */
  react(reaction: Reaction): void;
  /** Waits until so many deliveries have come. */
  until(count: number): Promise<ReceivedDelivery[]>;
  stop(): Promise<void>;
}

/** Starts one that answers 200, or as told, under every path. */
export async function startWebhookReceiver(reaction: Reaction = 200): Promise<WebhookReceiver> {
  let react = reaction;
  const received: ReceivedDelivery[] = [];
  const watchers = new Set<() => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const delivery = { method, path, headers, body: Buffer.concat(chunks), atMs: Date.now() };
      received.push(delivery);
      for (const notify of watchers) notify();
      if (typeof react === 'number') response.writeHead(react).end();
      else react(response, delivery);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/hook`,
    settings: { EGRESS_ALLOW: host },
    received,
    react(next) {
      react = next;
    },
    async until(count) {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          const notify = (): void => {
            watchers.delete(notify);
            resolve();
          };
          watchers.add(notify);
        });
      }
      return received;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
