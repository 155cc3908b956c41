import { pipeline } from 'node:stream/promises';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { setSandboxHeader } from '../platform/http-server/responses/gateway-headers.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { GuardedResponse } from '../platform/http-client/guarded-exchange.js';
import { SANDBOX_MEDIA_PATH, SandboxMedia } from './sandbox-media.js';

/** Node warns of a listener leak above this number of listeners of one kind. */
const MAX_LISTENERS = 20;
const LIMITS = { connectMs: 5_000, headersMs: 10_000, idleMs: 60_000 };
/** The request headers that decide which bytes are sent. */
const RANGE_HEADERS = ['range', 'if-range'] as const;
const TOLD = [
  'content-type',
  'content-length',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
];
/** Browsers may show and play these files, and other sites may embed them. API responses do not allow that. */
const SHOWN = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Content-Security-Policy':
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

/**
 * Files of the sandbox upstream, served on the gateway's port to anyone who knows a name. They are not part of the API:
 * their URLs are in responses of the sandbox. A real provider's URLs name its own host.
 */
@ApiExcludeController()
@Controller(SANDBOX_MEDIA_PATH)
export class SandboxMediaController {
  constructor(private readonly media: SandboxMedia) {}

  /**
   * Streams a file or one range of it at the client's pace (`GET` and `HEAD`). Throws 404 `not_found` without such a file or
   * without a sandbox, 416 `range_not_satisfiable`.
   */
  @Get(':name')
  async read(
    @Param('name') name: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const file = this.media.fileNamed(name);
    if (file === undefined) throw notFound();
    const leaving = new AbortController();
    response.once('close', () => {
      leaving.abort();
    });
    const upstream = await this.open(file, request, leaving.signal);
    try {
      await relay(upstream, response);
    } finally {
      upstream.close();
    }
  }

  /** The files are in the sandbox's memory, so they are lost when it cannot be reached. */
  private open(file: URL, request: Request, signal: AbortSignal): Promise<GuardedResponse> {
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
    const headers: Record<string, string> = {};
    for (const name of RANGE_HEADERS) {
      const value = request.get(name);
      if (value !== undefined) headers[name] = value;
    }
    return this.media
      .read(file, { method, headers, signal, limits: LIMITS })
      .catch((error: unknown) => {
        throw notFound(error);
      });
  }
}

async function relay(
  { status, headers, body }: GuardedResponse,
  response: Response,
): Promise<void> {
  if (status === 416) {
    response.setHeader('Content-Range', String(headers['content-range']));
    const message = 'The range lies outside the file.';
    throw new GatewayError('range_not_satisfiable', message, { param: 'Range' });
  }
  if (status !== 200 && status !== 206) throw notFound();
  response.status(status);
  for (const [name, value] of Object.entries(SHOWN)) response.setHeader(name, value);
  setSandboxHeader(response, true);
  for (const name of TOLD) {
    const value = headers[name];
    if (typeof value === 'string') response.setHeader(name, value);
  }
  // Every layer of the gateway listens for the end of a response, and a pipeline does so several times.
  response.setMaxListeners(MAX_LISTENERS);
  // The client has disconnected, or the file ended too early and the response is aborted. The request log shows which.
  await pipeline(body, response).catch(() => undefined);
}

function notFound(cause?: unknown): GatewayError {
  return new GatewayError('not_found', 'No such file.', { cause });
}
