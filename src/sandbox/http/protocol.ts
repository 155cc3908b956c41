import type { SandboxExchange } from './sandbox-exchange.js';

/** One operation of a provider. `path` may hold `{names}`, which become `exchange.params`. */
export interface SandboxRoute {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  readonly path: string;
  /** Name under which requests are counted. */
  readonly operation: string;
  readonly handle: (exchange: SandboxExchange) => Promise<void>;
}

/** An error as a provider words it. */
export interface WireError {
  readonly status: number;
  /** The provider's own error word; without one the usual word of the status is taken. */
  readonly code?: string;
  readonly message: string;
  /** The parameter at fault, where the provider names it. */
  readonly param?: string;
}

/** One provider's wire protocol, served below `prefix`. */
export interface SandboxProtocol {
  readonly prefix: string;
  readonly routes: readonly SandboxRoute[];
  /** The key a request carries, wherever this provider looks for it; `open` asks for none. */
  readonly keyOf: 'open' | ((exchange: SandboxExchange) => string | undefined);
  /** Name of the header with the id of a request. */
  readonly requestIdHeader: string;
  /** JSON body of an error answer. */
  errorBody(error: WireError, requestId: string): unknown;
}

/** Thrown by handlers; answered in the shape of the protocol. */
export class WireFault extends Error {
  constructor(readonly error: WireError) {
    super(error.message);
  }
}

/** An answer whose whole body a handler has already decided, such as a validation report. */
export class WireAnswer extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    super('answered');
  }
}
