import type { SandboxExchange } from './sandbox-exchange.js';

/** One operation of a provider. `path` may hold `{names}`, which become `exchange.params`. */
export interface SandboxRoute {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  readonly path: string;
  /** The name under which requests are counted. */
  readonly operation: string;
  readonly handle: (exchange: SandboxExchange) => Promise<void>;
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
