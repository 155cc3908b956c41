import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { STALL_MS } from '../responses/backpressure.js';
import { disconnectSlowest, type ResponseMemoryLimit } from '../responses/response-memory-limit.js';
import { type LoadShedder, requestPriorityOf } from '../load-shedding/load-shedder.js';
import type { OverloadRefusal } from '../load-shedding/overload-refusal.js';
import { EventLoopPacer } from '../../fairness/event-loop-pacer.js';
import { withRequestContext } from './request-context.js';
import { PipelinedConnection, type ConnectionLimits } from './pipelined-connection.js';
import { readByHeads } from './read-by-heads.js';

/** Load shedding: which requests are refused, and the response to them. */
export interface Overload {
  readonly shedder: LoadShedder;
  readonly refusal: OverloadRefusal;
}

/**
 * Requests that begin in one iteration of the event loop. Requests of a thousand connections may arrive in one; if all
 * began at once, timers, responses and settlements would wait for all of them.
 */
const REQUESTS_PER_ITERATION = 16;
const CHECK_MS = 5_000;
/** How often the buffered bytes of all responses are added up. */
const UNREAD_CHECK_MS = 1_000;

/**
 * A client that reads nothing for 30 s is disconnected, whatever the response is. So is a connection without a request
 * for 80 s: Node closes it after 65 s, but counts anew at each byte, even at a line end between requests.
 */
export const CONNECTION_LIMITS: ConnectionLimits = {
  maxWaiting: 4,
  maxWaitingCharacters: 65_536,
  checkMs: CHECK_MS,
  maxSilentChecks: STALL_MS / CHECK_MS,
  maxIdleChecks: 16,
};
/**
 * Serves the requests of one connection one after the other: the next one waits until the response was sent. Node alone
 * serves all requests of a client at once, and keeps every response in memory if the client reads none. With this class
 * the running response has the connection for itself and notices when it closes.
 */
export class PipeliningGuard {
  /** The open connections that have sent a request. */
  private readonly connections = new Map<Duplex, PipelinedConnection>();
  private readonly pacer = new EventLoopPacer(REQUESTS_PER_ITERATION);
  private overload: Overload | undefined;
  private unread: ResponseMemoryLimit | undefined;
  /** Buffered bytes of all responses, at the last count. */
  unreadBytes = 0;

  private readonly serve: RequestListener;

  constructor(
    serve: RequestListener,
    private readonly limits: ConnectionLimits = CONNECTION_LIMITS,
  ) {
    // A waiting request resumes in the context of another one, so its own is set here.
    this.serve = withRequestContext(serve);
  }

  /** Enables load shedding. */
  guard(overload: Overload): void {
    this.overload = overload;
  }

  /** Enables the limit of response memory. */
  bound(unread: ResponseMemoryLimit): void {
    this.unread = unread;
  }

  /** The listener for every request of the server. */
  readonly take: RequestListener = (request, response) => {
    this.connectionOf(request.socket).take(request, response);
  };

  /**
   * Accepts no more requests from a connection that sent invalid bytes. Returns true if a response is in progress: then
   * earlier requests are still responded to, and the connection closes after them.
   */
  endsAfterResponses(socket: Duplex): boolean {
    const connection = this.connections.get(socket);
    if (!connection || !(connection.isFull || connection.isResponding)) return false;
    connection.takeNoMore();
    return true;
  }

  /** Closes each connection that is open now after its response under way, or after its next one. */
  closeAfterResponses(): void {
    for (const connection of this.connections.values()) connection.closeAfterResponses();
  }

  /** The response of the connection that is under way, begun or not; undefined without one. */
  responseOn(socket: Duplex): ServerResponse | undefined {
    return this.connections.get(socket)?.response;
  }

  /**
   * While the server runs: disconnects slow clients and idle connections, and stops reading from clients that send too
   * many requests ahead.
   */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      readByHeads(socket, () => this.connections.get(socket));
    });
    const timer = setInterval(() => {
      for (const connection of this.connections.values()) connection.check();
    }, this.limits.checkMs).unref();
    const unreadTimer = setInterval(() => {
      this.checkUnread();
    }, UNREAD_CHECK_MS).unref();
    server.once('close', () => {
      clearInterval(timer);
      clearInterval(unreadTimer);
    });
  }

  /** Serves the next request of a connection: now, in a later turn of the event loop, or refuses it. */
  private readonly serveOrReject: RequestListener = (request, response) => {
    const { shedder, refusal } = this.overload ?? {};
    if (shedder?.refuses(request)) {
      refusal?.respond(request, response);
      return;
    }
    const begin = (): void => {
      // After a response with `Connection: close` Node sends no other response, so the request would never end.
      if (request.socket.writable) this.serve(request, response);
    };
    if (this.pacer.mayBegin()) {
      begin();
      return;
    }
    this.pacer.wait(requestPriorityOf(request), shedder ? shedder.counted(request, begin) : begin);
  };

  private checkUnread(): void {
    let bytes = 0;
    for (const connection of this.connections.values()) bytes += connection.unreadBytes;
    this.unreadBytes = bytes;
    const { unread } = this;
    if (!unread || bytes <= unread.maxBytes) return;
    const responses = [...this.connections.values()].flatMap(
      (connection) => connection.unread(unread.bucketOf) ?? [],
    );
    disconnectSlowest(responses, unread);
  }

  private connectionOf(socket: Socket): PipelinedConnection {
    const known = this.connections.get(socket);
    if (known !== undefined) return known;
    const connection = new PipelinedConnection(
      socket,
      withRequestContext(this.serveOrReject),
      this.limits,
    );
    this.connections.set(socket, connection);
    socket.on('close', () => this.connections.delete(socket));
    return connection;
  }
}
