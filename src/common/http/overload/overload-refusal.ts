import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { GatewayError } from '../../errors/gateway-error.js';
import type { Clock } from '../../time/clock.js';
import { discardRest } from '../bodies/refused-body.js';

/** A middleware that does nothing but set headers. */
export type HeaderMiddleware = (request: Request, response: Response, next: NextFunction) => void;

const RETRY_AFTER_SECONDS = 1;
const STATUS = 503;
const BODY = JSON.stringify(
  new GatewayError('service_unavailable', 'The gateway has too much to do right now.').toEnvelope(),
);
const OWN_HEADERS: readonly (readonly [string, string])[] = [
  ['Retry-After', String(RETRY_AFTER_SECONDS)],
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Content-Length', String(BODY.length)],
];

/**
 * The answer to a request for which there is no room: 503 `service_unavailable` with `Retry-After` and the headers that
 * every answer has, from the same middleware, for a twentieth of the CPU of a call. Nothing was held, so the client may
 * repeat the request.
 */
export class OverloadRefusal {
  private date = '';
  private dateAtSeconds = 0;

  constructor(
    private readonly middleware: readonly HeaderMiddleware[],
    private readonly clock: Clock,
    private readonly onRefused: () => void,
  ) {}

  /** The whole answer, for a connection that stays open. */
  text(request: IncomingMessage): string {
    this.onRefused();
    const lines = this.headersFor(request).map(([name, value]) => `${name}: ${value}\r\n`);
    return `HTTP/1.1 ${STATUS} ${STATUS_CODES[STATUS] ?? ''}\r\n${lines.join('')}Date: ${this.now()}\r\nConnection: keep-alive\r\n\r\n${BODY}`;
  }

  /** Answers in the usual way, and reads and drops the body. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    this.onRefused();
    for (const [name, value] of this.headersFor(request)) response.setHeader(name, value);
    discardRest(request);
    response.statusCode = STATUS;
    response.end(BODY);
  }

  private headersFor(request: IncomingMessage): readonly (readonly [string, string])[] {
    const headers: (readonly [string, string])[] = [];
    const setHeader = (name: string, value: string) => headers.push([name, value]);
    const response = { setHeader, vary: (field: string) => setHeader('Vary', field) };
    for (const set of this.middleware) {
      try {
        set(request as Request, response as unknown as Response, () => undefined);
      } catch {
        // A target that is no path has no headers of its own.
      }
    }
    headers.push(...OWN_HEADERS);
    return headers;
  }

  private now(): string {
    const seconds = this.clock.nowSeconds();
    if (seconds !== this.dateAtSeconds) {
      this.dateAtSeconds = seconds;
      this.date = new Date(seconds * 1_000).toUTCString();
    }
    return this.date;
  }
}
