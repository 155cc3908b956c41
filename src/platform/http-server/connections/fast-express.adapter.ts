import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import type { FamilyOf } from '../../../common/errors/api-family.js';
import { handleClientErrors } from './client-error.js';
import { PipeliningGuard, type Overload } from './pipelining-guard.js';
import { emitInContext } from './request-context.js';
import { noteExpectContinue } from '../request-body/body-headers.js';
import { endInPieces } from '../responses/end-in-pieces.js';
import { type ExpressApp, withFinalErrorHandler } from '../responses/final-error-handler.js';
import { withValidatedRequest } from './request-validation.js';
import type { ResponseMemoryLimit } from '../responses/response-memory-limit.js';

/**
 * The prototypes that Express gives to every request and response; @types/express does not declare them.
 */
type App = ExpressApp & { request: object; response: object };

/**
 * How long a client may take to send a request, in ms. Responses have no such limit, because music takes up to 15
 * minutes.
 */
const SERVER_SETTINGS = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  /** Longer than the idle timeout of common load balancers, so that they close the connection first. */
  keepAliveTimeout: 65_000,
  /**
   * Short, because Node closes all overdue connections in one turn of the event loop, 70 µs each. A check per second
   * would find the thousands that were opened in the same second.
   */
  connectionsCheckingInterval: 50,
  /**
   * Bytes that are buffered for a slow client before back-pressure begins. Since Node 22 the default would be 64 kB.
   */
  highWaterMark: 16 * 1024,
  /** Off: the gateway checks the header itself, and responds with the error envelope. */
  requireHostHeader: false,
};
/** Connections of one process. An idle connection costs about 20 kB. */
const MAX_CONNECTIONS = 20_000;
const IDLE_SWEEP_MS = 100;
/**
 * Connections that may wait until the process accepts them; the kernel takes less where `net.core.somaxconn` is lower.
 * With Node's 511 a busy second lost connections that their clients believed to be open, and which were reset later.
 */
const MAX_WAITING_CONNECTIONS = 4_096;

/**
 * Nest's Express adapter, three times faster, with bounded headers and timeouts. Express replaces the prototype of
 * every request and response, which makes Node's objects slow. Here the server creates them with that prototype. No
 * ETag, no X-Powered-By. TLS is left to the load balancer. Use with `bodyParser: false`.
 */
export class FastExpressAdapter extends ExpressAdapter {
  private cutsConnections = false;
  private pipelining: PipeliningGuard | undefined;

  /** `familyOf` decides on the form of the errors that the server itself answers. */
  constructor(private readonly familyOf?: FamilyOf) {
    // Error codes depend on the exact path. Express reads this setting once, at its first `use`, which Nest's
    // constructor calls.
    super(express().enable('case sensitive routing'));
    this.disable('etag');
    this.disable('x-powered-by');
  }

  /** Nest calls it once, before any route exists. */
  override initHttpServer(options: NestApplicationOptions | undefined): void {
    // The server of the base class is never used, so its tracking of connections would do nothing.
    super.initHttpServer({ ...options, forceCloseConnections: false });
    this.cutsConnections = options?.forceCloseConnections ?? false;
    const app = this.getInstance<App>();
    class AppRequest extends IncomingMessage {}
    class AppResponse extends ServerResponse {}
    AppRequest.prototype.emit = emitInContext;
    AppResponse.prototype.emit = emitInContext;
    AppResponse.prototype.end = endInPieces;
    app.request = flatten(app.request, AppRequest.prototype);
    app.response = flatten(app.response, AppResponse.prototype);
    const classes = { IncomingMessage: AppRequest, ServerResponse: AppResponse };
    const pipelining = new PipeliningGuard(
      withValidatedRequest(withFinalErrorHandler(app, this.familyOf), this.familyOf),
    );
    this.pipelining = pipelining;
    this.httpServer = createServer({ ...SERVER_SETTINGS, ...classes }, pipelining.take);
    // Nest gets the error of a port in use. An error while a connection is accepted is ignored.
    this.httpServer.on('error', () => undefined);
    this.listenTo(this.httpServer, pipelining);
  }

  /** Listens with room for {@link MAX_WAITING_CONNECTIONS}. */
  override listen(
    port: number | string,
    hostname?: string | (() => void),
    callback?: () => void,
  ): Server {
    const [host, done] =
      typeof hostname === 'string' ? [hostname, callback] : [undefined, hostname ?? callback];
    return this.httpServer.listen(Number(port), host, MAX_WAITING_CONNECTIONS, done);
  }

  /** Enables load shedding. */
  guard(overload: Overload): void {
    this.pipelining?.guard(overload);
  }

  /**
   * Enables the limit of response memory: the slowest clients are disconnected while buffered responses exceed it.
   * Returns a function that reports the buffered bytes.
   */
  setUpResponseMemoryLimit(bound: ResponseMemoryLimit): () => number {
    this.pipelining?.bound(bound);
    return () => this.pipelining?.unreadBytes ?? 0;
  }

  private listenTo(server: Server, pipelining: PipeliningGuard): void {
    // Node's own limit is off, because Node would drop the headers beyond it. The size of all headers is bounded.
    server.maxHeadersCount = 0;
    server.maxConnections = MAX_CONNECTIONS;
    server.on('checkContinue', (request, response) => {
      noteExpectContinue(request, response);
      pipelining.take(request, response);
    });
    // It is rejected after the responses to earlier requests.
    server.on('checkExpectation', pipelining.take);
    pipelining.watch(server);
    handleClientErrors(server, pipelining, this.familyOf);
  }

  /** Lets no connection that is open now serve more than one further request, so that clients turn to another process. */
  closeAfterResponses(): void {
    this.pipelining?.closeAfterResponses();
  }

  /** Closes the connections that have no request. */
  closeIdleConnections(): void {
    this.httpServer.closeIdleConnections();
  }

  /** Cuts every connection at once. */
  cutConnections(): void {
    this.httpServer.closeAllConnections();
  }

  /**
   * Stops listening and waits until every response has ended. Idle connections are closed at once (Node would keep them
   * for the whole keep-alive time). Under `forceCloseConnections` all connections are cut at once.
   */
  override async close(): Promise<void> {
    if (this.cutsConnections) this.cutConnections();
    const sweep = setInterval(() => {
      this.closeIdleConnections();
    }, IDLE_SWEEP_MS);
    await super.close();
    clearInterval(sweep);
  }
}

/**
 * Copies what `source` inherits, without what Node's own class has, onto `target`: a longer chain of prototypes would
 * be slow again.
 */
function flatten(source: object, target: object): object {
  const inherited = Object.getPrototypeOf(source) as object;
  if (inherited !== Object.getPrototypeOf(target)) flatten(inherited, target);
  return Object.defineProperties(target, Object.getOwnPropertyDescriptors(source));
}
