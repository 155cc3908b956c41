import type { SandboxProtocol, SandboxRoute } from './protocol.js';

/** The handler of a request. When `route` is absent, the protocol is known but not the path. */
export interface RouteMatch {
  readonly protocol: SandboxProtocol;
  readonly route?: SandboxRoute;
  readonly params: Readonly<Record<string, string>>;
}

interface Entry {
  readonly method: string;
  readonly segments: readonly string[];
  readonly protocol: SandboxProtocol;
  readonly route: SandboxRoute;
}

/** Finds the operation of a method and path. */
export class RouteTable {
  private readonly entries: readonly Entry[];

  constructor(private readonly protocols: readonly SandboxProtocol[]) {
    this.entries = protocols.flatMap((protocol) =>
      protocol.routes.map((route) => ({
        method: route.method,
        segments: `${protocol.prefix}${route.path}`.split('/'),
        protocol,
        route,
      })),
    );
  }

  find(method: string, path: string): RouteMatch | undefined {
    const segments = path.split('/');
    for (const entry of this.entries) {
      const params = entry.method === method ? match(entry.segments, segments) : undefined;
      if (params !== undefined) return { protocol: entry.protocol, route: entry.route, params };
    }
    const protocol = this.protocols.find(({ prefix }) => path.startsWith(`${prefix}/`));
    return protocol === undefined ? undefined : { protocol, params: {} };
  }
}

function match(
  wanted: readonly string[],
  given: readonly string[],
): Record<string, string> | undefined {
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? '';
    if (segment.startsWith('{')) params[segment.slice(1, -1)] = decodeSegment(value);
    else if (segment !== value) return undefined;
  }
  return params;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
