import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MediaShelf } from '../media/media-shelf.js';
import { parseJson } from './json.js';
import { readBody } from './request-body.js';

/** Prefix of the sandbox's control routes. Tests ask there what was received; the gateway gives instructions there. */
export const CONTROL_PREFIX = '/__sandbox/';
const DEFAULT_LIMIT = 100;

/** What the control routes read and change. */
export interface ControlledServer {
  readonly shelf: MediaShelf;
  stats(): unknown;
  lastRequests(limit: number): unknown;
  lastChats(limit: number): unknown;
  lastJobs(limit: number): unknown;
  forgetRequests(): void;
  playVendors(files: unknown): void;
}

/**
 * Answers `GET` of `requests?limit=`, `chats?limit=`, `jobs?limit=` and `stats`, `DELETE requests`, `PUT media-base?url=` (where the files
 * are published), `PUT vendors` (the files of the vendors that it plays) and `POST media?type=&extension=` (puts the body on the shelf and tells its URL), all below the prefix.
 */
export async function control(
  server: ControlledServer,
  request: IncomingMessage,
  url: URL,
  response: ServerResponse,
): Promise<void> {
  const subject = url.pathname.slice(CONTROL_PREFIX.length);
  const asked = url.searchParams;
  const answer = (value: unknown): void => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  };
  switch (`${request.method ?? 'GET'} ${subject}`) {
    case 'DELETE requests':
      server.forgetRequests();
      response.writeHead(204).end();
      return;
    case 'PUT media-base':
      server.shelf.publishAt(asked.get('url') ?? '');
      response.writeHead(204).end();
      return;
    case 'PUT vendors':
      server.playVendors(parseJson(await readBody(request)));
      response.writeHead(204).end();
      return;
    case 'POST media': {
      const file = { bytes: await readBody(request), contentType: asked.get('type') ?? '' };
      const name = server.shelf.put(file, asked.get('extension') ?? 'bin');
      answer({ url: server.shelf.urlOf(name, request.headers.host) });
      return;
    }
    case 'GET requests':
      answer(server.lastRequests(limitOf(asked)));
      return;
    case 'GET chats':
      answer(server.lastChats(limitOf(asked)));
      return;
    case 'GET jobs':
      answer(server.lastJobs(limitOf(asked)));
      return;
    default:
      answer(server.stats());
  }
}

function limitOf(asked: URLSearchParams): number {
  return Number(asked.get('limit') ?? DEFAULT_LIMIT);
}
