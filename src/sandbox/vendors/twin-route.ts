import type { SandboxRoute } from '../http/protocol.js';
import { literal } from './template-values.js';

/** A name in braces, in a path or a query as a URL has it. */
const MARK = /(?:\{|%7B)(\w+)(?:\}|%7D)/;

/** A route of a vendor whose file names its path. */
export interface TwinRoute {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** How many characters of it stand for themselves. Of two that fit, the one with more is meant. */
  readonly fixed: number;
  readonly route: SandboxRoute;
}

/**
 * A route of the vendor: a name in braces is one step of the path, or one value of the query; that of a model may have several steps
 * of the path. The fixed characters are compared as a URL has them, which writes some of them in another way.
 */
export function twinRoute(
  method: SandboxRoute['method'],
  path: string,
  operation: string,
  handle: SandboxRoute['handle'],
): TwinRoute {
  const names: string[] = [];
  let fixed = 0;
  let isQuery = false;
  const { pathname, search } = new URL(`http://sandbox${path}`);
  const pieces = (pathname + search).split(MARK).map((piece, index) => {
    if (index % 2 === 0) {
      fixed += piece.length;
      isQuery ||= piece.includes('?');
      return literal(piece);
    }
    names.push(piece);
    if (isQuery) return '([^?&]+)';
    return piece === 'model' ? '([^?]+)' : '([^/?&]+)';
  });
  // The key may be a further parameter.
  const pattern = new RegExp(`^${pieces.join('')}(?:[?&].*)?$`);
  return { pattern, names, fixed, route: { method, path, operation, handle } };
}
