import { readFile } from 'node:fs/promises';
import type { SlowSockets } from '../../test/faults/slow-sockets.js';

const UNREAD_CHECK_MS = 1_000;
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Of one connection: the bytes that the kernel has taken for its reader, and since when there are as many. */
interface Unread {
  bytes: number;
  sinceMs: number;
}

/**
 * How long readers that read nothing stay connected after the last byte that the kernel took for them. Works on Linux; finds
 * 0 elsewhere.
 */
export class ReaderWatch {
  /** The longest time that any reader made no progress. */
  longestStillMs = 0;
  private readonly unread = new Map<number, Unread>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly serverPort: number,
    private readonly readers: SlowSockets,
  ) {
    this.timer = setInterval(() => {
      void this.look();
    }, UNREAD_CHECK_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    const bytesOf = await unreadBytes(this.serverPort);
    const nowMs = performance.now();
    for (const port of this.readers.openPorts) {
      const bytes = bytesOf.get(port);
      if (bytes === undefined) continue;
      const before = this.unread.get(port);
      if (before?.bytes !== bytes) this.unread.set(port, { bytes, sinceMs: nowMs });
      else this.longestStillMs = Math.max(this.longestStillMs, nowMs - before.sinceMs);
    }
  }
}

/** By the port of each client: the bytes that wait in the queues of the server's socket and of the client's. */
async function unreadBytes(serverPort: number): Promise<Map<number, number>> {
  const tables = await Promise.all(TABLES.map((file) => readFile(file, 'utf8').catch(() => '')));
  const bytes = new Map<number, number>();
  for (const line of tables.flatMap((table) => table.split('\n'))) {
    const [, local, remote, , queues] = line.trim().split(/\s+/);
    const [localPort, remotePort] = [portOf(local), portOf(remote)];
    const [sent, received] = (queues ?? '').split(':').map((hex) => parseInt(hex, 16));
    if (localPort === serverPort) add(bytes, remotePort, sent);
    else if (remotePort === serverPort) add(bytes, localPort, received);
  }
  return bytes;
}

function portOf(address = ''): number {
  return parseInt(address.split(':')[1] ?? '', 16);
}

function add(sums: Map<number, number>, port: number, bytes = 0): void {
  sums.set(port, (sums.get(port) ?? 0) + bytes);
}
