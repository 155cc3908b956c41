import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicProtocol } from './anthropic/anthropic-protocol.js';
import { elevenLabsProtocol } from './elevenlabs/elevenlabs-protocol.js';
import { control, CONTROL_PREFIX } from './http/control.js';
import { geminiProtocol } from './gemini/gemini-protocol.js';
import { SandboxExchange } from './http/sandbox-exchange.js';
import { mediaProtocol } from './http/media-protocol.js';
import { actOut, retryHeaders } from './http/faults.js';
import {
  WireAnswer,
  WireFault,
  RouteTable,
  type RouteMatch,
  SANDBOX_API_KEY,
  TWIN_HEADER,
} from './http/protocol.js';
import { type RecordedRequest, Recorder } from './http/recorder.js';
import { readBody } from './http/request-body.js';
import { JobBoard, type JobView } from './jobs/job-board.js';
import { Magic } from './magic-inputs.js';
import { shelveExamples } from './example-recordings.js';
import { MediaShelf } from './media/media-shelf.js';
import { ChatLog, type ChatRecord } from './chat/chat-log.js';
import { openAiProtocol } from './openai/openai-protocol.js';
import { ttapiProtocol } from './ttapi/ttapi-protocol.js';
import type { TwinFile } from './vendors/twin-file.js';
import { VendorTwins } from './vendors/vendor-twin.js';
import { openAiVideoProtocol } from './openai-video/openai-video-protocol.js';

/** Magic inputs are read from this much of a body, so that whole uploads are not searched. */
const MAGIC_SEARCH_BYTES = 256 * 1024;
const DEFAULT_REQUEST_LIMIT = 100;
/** Longer than clients keep an idle connection, so that none is closed while a request is on its way. */
const KEEP_ALIVE_MS = 120_000;

/** What the sandbox has seen since its start or the last reset. */
export interface SandboxStats {
  /** Requests by operation, such as `text_to_speech`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Requests being answered right now. */
  readonly inFlight: number;
}

/**
 * The sandbox upstream: one HTTP server on loopback that speaks every provider's wire protocol and makes real media. It
 * also answers the control routes of {@link control} below `/__sandbox/`.
 */
export class SandboxServer {
  /** Finished files that can be fetched by URL. */
  readonly shelf = new MediaShelf();
  /** Work that was accepted and is finished later. */
  readonly jobs = new JobBoard();
  private readonly vendors = new VendorTwins(this.jobs, this.shelf);
  private readonly server: Server;
  private readonly routes: RouteTable;
  private readonly recorder = new Recorder();
  private readonly chats = new ChatLog();
  /** One controller for each request that is being answered. */
  private readonly open = new Set<AbortController>();

  constructor() {
    shelveExamples(this.shelf);
    this.routes = new RouteTable([
      anthropicProtocol(this.chats),
      elevenLabsProtocol(this),
      geminiProtocol(this.chats, this.jobs),
      openAiProtocol(this.chats, this.shelf),
      openAiVideoProtocol(this.jobs, this.shelf),
      ttapiProtocol(this.jobs, this.shelf),
      mediaProtocol(this.shelf),
    ]);
    this.server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
      void this.answer(request, response);
    });
    // Its start learns that the port is taken.
    this.server.on('error', () => undefined);
  }

  /** Listens on 127.0.0.1, on a free port when none is given. Returns the port. */
  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', resolve);
    });
    return (this.server.address() as AddressInfo).port;
  }

  /** Stops at once: unfinished answers are cut. */
  async close(): Promise<void> {
    for (const leaving of this.open) leaving.abort();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  stats(): SandboxStats {
    return { requests: this.recorder.countByOperation(), inFlight: this.open.size };
  }

  /** The last requests, newest first. */
  lastRequests(limit = DEFAULT_REQUEST_LIMIT): RecordedRequest[] {
    return this.recorder.last(limit);
  }

  /** What the last chat completions contained, newest first. */
  lastChats(limit = DEFAULT_REQUEST_LIMIT): ChatRecord[] {
    return this.chats.last(limit);
  }

  /** The last accepted jobs, newest first. */
  lastJobs(limit = DEFAULT_REQUEST_LIMIT): JobView[] {
    return this.jobs.last(limit);
  }

  /** Forgets every request and chat seen so far. */
  forgetRequests(): void {
    this.recorder.clear();
    this.chats.clear();
  }

  /** Plays the vendors of these files too; the gateway has checked them. */
  playVendors(files: unknown): void {
    this.vendors.add(files as readonly TwinFile[]);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://sandbox');
    const method = request.method ?? 'GET';
    const version = request.headers[TWIN_HEADER]?.toString();
    const match = this.routes.find(method, url.pathname) ?? this.vendors.find(method, url, version);
    try {
      if (url.pathname.startsWith(CONTROL_PREFIX)) await control(this, request, url, response);
      else if (match === undefined) response.writeHead(404).end();
      else await this.serve(request, response, url, match);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : new Error(String(error)));
      response.destroy();
    }
  }

  private async serve(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    match: RouteMatch,
  ): Promise<void> {
    const leaving = this.watch(response);
    let body: Buffer = Buffer.alloc(0);
    let readError: Error | undefined;
    try {
      body = await readBody(request);
    } catch (error) {
      readError = error as Error;
    }
    const record = this.recorder.add(
      {
        operation: match.route?.operation ?? 'unknown',
        method: request.method ?? 'GET',
        url,
        headers: request.headers,
      },
      body,
    );
    response.once('close', () => {
      record.status = response.headersSent ? response.statusCode : 0;
      record.isAborted = !response.writableFinished;
    });
    const exchange = new SandboxExchange({
      request,
      response,
      requestId: randomUUID().replaceAll('-', ''),
      params: match.params,
      query: url.searchParams,
      body,
      magic: Magic.read(body.toString('utf8', 0, MAGIC_SEARCH_BYTES)),
      signal: leaving.signal,
    });
    await this.handle(exchange, match, readError);
  }

  /** Tells a handler that its client has left or that the server closes. */
  private watch(response: ServerResponse): AbortController {
    const leaving = new AbortController();
    this.open.add(leaving);
    response.once('close', () => {
      this.open.delete(leaving);
      leaving.abort();
    });
    return leaving;
  }

  private async handle(
    exchange: SandboxExchange,
    match: RouteMatch,
    readError?: Error,
  ): Promise<void> {
    const { protocol, route } = match;
    try {
      if (readError !== undefined) throw readError;
      if (protocol.keyOf !== 'open' && protocol.keyOf(exchange) !== SANDBOX_API_KEY) {
        throw new WireFault({ status: 401, message: 'Invalid API key' });
      }
      if (route === undefined) throw new WireFault({ status: 404, message: 'Not Found' });
      if (await actOut(exchange)) return;
      await route.handle(exchange);
    } catch (error) {
      const requestId = { [protocol.requestIdHeader]: exchange.requestId };
      if (error instanceof WireAnswer) {
        await exchange.json(error.status, error.body, requestId);
      } else if (error instanceof WireFault) {
        const { status } = error.error;
        const body = protocol.errorBody(error.error, exchange.requestId);
        await exchange.json(status, body, { ...requestId, ...retryHeaders(exchange, status) });
      } else if (!exchange.signal.aborted) throw error;
    }
  }
}
