import { Injectable, NotFoundException } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Express } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { toGatewayError } from '../common/errors/to-gateway-error.js';
import { hintFor, methodHint } from './unsupported-endpoints.js';

interface RouterLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Requests for which the gateway has no handler, and what to send instead (decision G-12). */
@Injectable()
export class UnroutedRequests {
  constructor(private readonly adapters: HttpAdapterHost) {}

  /** Methods of the path, in capital letters and in order; none for an unknown path. */
  methodsOf(path: string): string[] {
    const { router } = this.adapters.httpAdapter.getInstance<Express>();
    const { stack } = router as unknown as { stack: readonly RouterLayer[] };
    const methods = stack.flatMap((layer) =>
      layer.route && layer.match(path) ? Object.keys(layer.route.methods) : [],
    );
    return [...new Set(methods)].map((method) => method.toUpperCase()).sort();
  }

  /** What to use instead of a path that does not exist; undefined where nothing is known. */
  hintFor(path: string): string | undefined {
    return hintFor(path, (other) => this.methodsOf(other).length > 0);
  }

  /** The error of a request without a handler: 404, or 405 for a path with other methods. Undefined where there is a handler. */
  refusalOf(method: string, path: string): GatewayError | undefined {
    const methods = this.methodsOf(path);
    if (methods.includes(method)) return undefined;
    if (methods.length > 0) {
      return new GatewayError('method_not_allowed', methodHint(method, path, methods));
    }
    const hint = this.hintFor(path);
    return hint === undefined
      ? toGatewayError(new NotFoundException())
      : new GatewayError('not_found', hint);
  }
}
