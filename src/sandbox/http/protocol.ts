import type { SandboxExchange } from './sandbox-exchange.js';

/** The key that every protocol of the sandbox accepts. Any other key gets 401. */
export const SANDBOX_API_KEY = 'sandbox-key';

/** The header in which requests to the twin of a vendor say of which version of its file they are. */
export const TWIN_HEADER = 'x-sandbox-twin';

/** One operation of a provider. `path` may hold `{names}`, which become `exchange.params`. */
export interface SandboxRoute {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** The name under which requests are counted. */
  readonly operation: string;
  readonly handle: (exchange: SandboxExchange) => Promise<void>;
}

/** The list of models of a provider. The sandbox takes every name, and lists none. */
export function modelList(path: string, body: unknown): SandboxRoute {
  return {
    method: 'GET',
    path,
    operation: 'models',
    handle: (exchange) => exchange.json(200, body),
  };
}

/** An error, as a provider writes it. */
export interface WireError {
  readonly status: number;
  /** The provider's own word for the error; without one, the usual word for the status. */
  readonly code?: string;
  readonly message: string;
  /** The parameter that caused the error, where the provider names it. */
  readonly param?: string;
}

/** One provider's wire protocol, served below `prefix`. */
export interface SandboxProtocol {
  readonly prefix: string;
  readonly routes: readonly SandboxRoute[];
  /** The key of a request, from wherever this provider expects it. `open` needs no key. */
  readonly keyOf: 'open' | ((exchange: SandboxExchange) => string | undefined);
  /** Name of the header that carries the id of a request. */
  readonly requestIdHeader: string;
  /** JSON body of an error answer. */
  errorBody(error: WireError, requestId: string): unknown;
}

/** Thrown by handlers; answered in the format of the protocol. */
export class WireFault extends Error {
  constructor(readonly error: WireError) {
    super(error.message);
  }
}

/** An answer whose whole body the handler has made, such as a list of validation errors. */
export class WireAnswer extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    super('answered');
  }
}

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

/** A step of a path as it was meant; as it came where its escapes are none. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
