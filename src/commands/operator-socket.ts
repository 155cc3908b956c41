import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { isJsonObject } from '../common/json-object.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import type { Operators, TaskOperators } from './operator-command.js';
import type { OperatorReply, OperatorRequest, Print } from './operator-request.js';

type AllOperators = Operators & TaskOperators;

/** What `sun_path` holds on every system. */
const MAX_PATH_BYTES = 103;
const HASH_LENGTH = 16;
/** Only our own user may connect. */
const SOCKET_UMASK = 0o177;
const MAX_CONNECTIONS = 16;
const MAX_REQUEST_BYTES = 1_048_576;
/** The longest that the other side may be silent while it sends or takes something. */
const SILENCE_LIMIT_MS = 10_000;
/** The longest that the other side may take no further piece of a text, such as a person who reads it by pages. */
const PIECE_LIMIT_MS = 600_000;
/** Tells that a command is taken now. White space before the JSON of the reply. */
const GREETING = '\n';

/**
 * Where a gateway on this data folder and database takes the commands of operators; undefined where the path is too long for
 * a socket. Another `DATABASE_URL` is another path, so that no command reaches the books of another gateway.
 */
export function operatorSocketPath({
  dataDir,
  databaseUrl = '',
}: Pick<GatewayConfig, 'dataDir' | 'databaseUrl'>): string | undefined {
  const hash = createHash('sha256').update(databaseUrl).digest('hex').slice(0, HASH_LENGTH);
  const path = join(resolve(dataDir), `operator-${hash}.sock`);
  return Buffer.byteLength(path) <= MAX_PATH_BYTES ? path : undefined;
}

/**
 * The Unix socket in the data folder through which the command line has a running gateway run its commands. Only the user
 * of the gateway can open it, who can read its keys and its database anyway.
 */
export class OperatorSocket {
  private runningCommands = 0;
  private readonly open = new Set<Socket>();
  private readonly server: Server;

  private constructor(private readonly operators: AllOperators) {
    this.server = createServer({ allowHalfOpen: true }, (socket) => {
      void this.serve(socket);
    });
    this.server.maxConnections = MAX_CONNECTIONS;
    // An error of one connection concerns its client only.
    this.server.on('error', () => undefined);
  }

  /**
   * Listens. Undefined where the folder takes no socket, or another process of this gateway listens there: commands then find
   * the other one, or open the database themselves.
   */
  static async listen(path: string, operators: AllOperators): Promise<OperatorSocket | undefined> {
    const socket = new OperatorSocket(operators);
    if (await socket.listens(path)) return socket;
    if (await answers(path)) return undefined;
    // A killed gateway left it.
    await rm(path, { force: true }).catch(() => undefined);
    return (await socket.listens(path)) ? socket : undefined;
  }

  /** Commands under way. */
  get running(): number {
    return this.runningCommands;
  }

  /** Takes no more commands. Those under way go on. */
  stop(): void {
    this.server.close();
  }

  /** Ends what is still open. */
  close(): void {
    this.stop();
    for (const socket of this.open) socket.destroy();
  }

  private async listens(path: string): Promise<boolean> {
    const umask = process.umask(SOCKET_UMASK);
    try {
      // Not shared by workers, so the file is made here and now.
      this.server.listen({ path, exclusive: true });
    } finally {
      process.umask(umask);
    }
    return once(this.server, 'listening').then(
      () => true,
      () => false,
    );
  }

  private async serve(socket: Socket): Promise<void> {
    this.open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.open.delete(socket));
    socket.setTimeout(SILENCE_LIMIT_MS, () => socket.destroy());
    socket.write(GREETING);
    const request = await requestFrom(socket).catch(() => undefined);
    if (request === undefined) {
      socket.destroy();
      return;
    }
    // An audit may take minutes.
    socket.setTimeout(0);
    this.runningCommands += 1;
    const print = (piece: string) => send(socket, `${JSON.stringify({ piece })}\n`);
    const reply = await replyTo(request, this.operators, print).finally(
      () => (this.runningCommands -= 1),
    );
    socket.setTimeout(SILENCE_LIMIT_MS);
    socket.end(JSON.stringify(reply));
  }
}

/** Loads the commands when the first one comes, because most starts need none. */
async function replyTo(
  request: OperatorRequest,
  operators: AllOperators,
  print: Print,
): Promise<OperatorReply> {
  const { runCommand } = await import('./run-command.js');
  return runCommand(request, {
    operators: (work) => work(operators),
    tasks: (work) => work(operators),
    print: request.takesPieces === true ? print : refuse,
  });
}

/** Sends text and waits until the other side has taken what came before. Throws when it has left. */
async function send(socket: Socket, text: string): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => {
    gone.abort();
  };
  socket.once('close', leave);
  try {
    if (!socket.write(text)) {
      await once(socket, 'drain', {
        signal: AbortSignal.any([gone.signal, AbortSignal.timeout(PIECE_LIMIT_MS)]),
      });
    }
  } catch {
    throw new Error(NOBODY_READS);
  } finally {
    socket.off('close', leave);
  }
  if (socket.destroyed) throw new Error(NOBODY_READS);
}

const NOBODY_READS = 'Nobody takes the answer any more';

const refuse: Print = () =>
  Promise.reject(
    new Error('This command line is older than the gateway. Use the one of its version.'),
  );

/** Throws if the bytes are no JSON; undefined for other JSON that is no request, or for too many bytes. */
async function requestFrom(socket: Socket): Promise<OperatorRequest | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // The reply still goes to the other side.
  const sending = socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of sending) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_REQUEST_BYTES) return undefined;
    chunks.push(chunk);
  }
  const sent: unknown = JSON.parse(Buffer.concat(chunks).toString());
  return isRequest(sent) ? sent : undefined;
}

function isRequest(sent: unknown): sent is OperatorRequest {
  if (!isJsonObject(sent)) return false;
  const { name, words, options, actor } = sent;
  return (
    [name, actor].every((value) => typeof value === 'string') &&
    Array.isArray(words) &&
    words.every((word) => typeof word === 'string') &&
    isJsonObject(options) &&
    Object.values(options).every((value) => ['string', 'boolean'].includes(typeof value))
  );
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path).on('error', () => undefined);
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
