import { pipeline } from 'node:stream/promises';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { GuardedResponse } from '../net/guarded-exchange.js';
import { SANDBOX_MEDIA_PATH, SandboxMedia } from './sandbox-media.js';

const LIMITS = { connectMs: 5_000, headersMs: 10_000, idleMs: 60_000 };
/** What of the request decides which bytes are answered. */
const ASKED = ['range', 'if-range'] as const;
const TOLD = [
  'content-type',
  'content-length',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
];
/** The address bar and the pages of others may show and play these files, which an API's answers may not. */
const SHOWN = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Content-Security-Policy':
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

/**
 * Files of the sandbox upstream on the gateway's port, open to whoever knows their name. Not part of the API: the URLs
 * come from the sandbox's answers, and with a real provider from that provider's own host.
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
    const answer = await this.open(file, request, leaving.signal);
    try {
      await relay(answer, response);
    } finally {
      answer.close();
    }
  }

  /** A sandbox that cannot be reached has lost its files, which lie in its memory. */
  private open(file: URL, request: Request, signal: AbortSignal): Promise<GuardedResponse> {
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
    const headers: Record<string, string> = {};
    for (const name of ASKED) {
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
    throw new GatewayError('range_not_satisfiable', 'The range lies outside the file.');
  }
  if (status !== 200 && status !== 206) throw notFound();
  response.status(status);
  for (const [name, value] of Object.entries(SHOWN)) response.setHeader(name, value);
  for (const name of TOLD) {
    const value = headers[name];
    if (typeof value === 'string') response.setHeader(name, value);
  }
  // A client that leaves ends the reading; a file that breaks off cuts the answer. The request log tells either.
  await pipeline(body, response).catch(() => undefined);
}

function notFound(cause?: unknown): GatewayError {
  return new GatewayError('not_found', 'No such file.', { cause });
}
