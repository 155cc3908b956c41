import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';

/** What Vite makes of the folder `console`. */
const BUILT = new URL('../../dist/console/page/', import.meta.url);
const FILES_PREFIX = '/assets/';
/** Paths below `/console` that are calls, not screens. */
const CALLS = /^\/(?:api|session|oidc)(?:\/|$)/;
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Its own files only, nothing inline, no text as code. Pictures and media of customers may be shown from memory; the data
 * URL is for the browser's own controls.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** A file of the page, whole and compressed. */
interface PageFile {
  readonly body: Buffer;
  readonly gzip: Buffer;
  readonly type: string;
}

/** The page of the console, in memory: its document, and the files that the document loads by names with their hashes. */
export class ConsolePage {
  private constructor(
    private readonly document: PageFile,
    private readonly files: ReadonlyMap<string, PageFile>,
  ) {}

  /** Reads what was built; undefined where the console was not built. `pathPrefix`: of each path of this gateway in a URL. */
  static read(pathPrefix: string, folder = BUILT): ConsolePage | undefined {
    const html = readIfBuilt(new URL('index.html', folder));
    if (html === undefined) return undefined;
    // Screens have paths of several parts, so that the document cannot name its files from where it is.
    const document = html.replaceAll('"./', `"${pathPrefix}/console/`);
    const names = readdirSync(new URL('assets/', folder));
    const files = names.map((name) => {
      const body = readFileSync(new URL(`assets/${name}`, folder));
      return [name, pageFile(body, TYPES[extname(name)] ?? 'application/octet-stream')] as const;
    });
    return new ConsolePage(
      pageFile(Buffer.from(document), 'text/html; charset=utf-8'),
      new Map(files),
    );
  }

  /** Middleware at `/console`: answers the document for every screen, and a file by its name; leaves calls to the others. */
  readonly serve = (request: Request, response: Response, next: NextFunction): void => {
    const { method, path } = request;
    if ((method !== 'GET' && method !== 'HEAD') || CALLS.test(path)) {
      next();
      return;
    }
    if (!path.startsWith(FILES_PREFIX)) {
      respondWith(this.document, 'no-store', request, response);
      return;
    }
    const file = this.files.get(path.slice(FILES_PREFIX.length));
    if (file === undefined) next();
    else respondWith(file, 'public, max-age=31536000, immutable', request, response);
  };
}

function readIfBuilt(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function pageFile(body: Buffer, type: string): PageFile {
  return { body, gzip: gzipSync(body, { level: 9 }), type };
}

function respondWith(file: PageFile, kept: string, request: Request, response: Response): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  response.setHeader('Cache-Control', kept);
  response.setHeader('Content-Type', file.type);
  response.vary('Accept-Encoding');
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.end(isCompressed ? file.gzip : file.body);
}
