import type { Operation } from '../providers/ports/provider-ports.js';
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import type { ModelRow } from '../catalog/model-row.js';
import type { CostedRoute } from '../catalog/route-cost.js';
import type { KeptCall } from './kept/kept-call.js';
import type { MicroUsd } from '../common/money/micro-usd.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the model guard. */
    admitted?: AdmittedModel;
    /** Set by the run guard. */
    run?: RunOfCall;
    /** Set by the model guard of calls that may become tasks. */
    deferral?: Deferral;
  }
}

/** A model that the caller may use on this endpoint, and the routes of the model that can run. */
export interface AdmittedModel<O extends Operation = Operation> {
  readonly row: ModelRow<O>;
  /** The model as the caller named it: its id or an alias. */
  readonly modelName: string;
  readonly routes: readonly CostedRoute[];
  /** Whether the routes are tried in the order of what the work costs on them. */
  readonly byCost?: boolean;
}

/** The run that a call names, and the limit that it gives the run. */
export interface RunOfCall {
  readonly id: string;
  /** Undefined: the call names none. */
  readonly limitMicroUsd?: MicroUsd | undefined;
}

/** What a caller wants whose call becomes a task (`Prefer: respond-async`). */
export interface Deferral {
  readonly idempotencyKey: string | undefined;
  readonly webhook: { readonly url: string; readonly secret: string | undefined } | undefined;
  /** By which requests with the same key are compared at first: the body as it was sent, and digests of its files. */
  readonly sent: object;
  /** Digests of the files of a form. */
  readonly files?: object | undefined;
}

/** A synchronous paid call after admission: its caller, its model, and its execution id. */
export interface AdmittedCall<O extends Operation = Operation> extends AdmittedModel<O> {
  /** UUID; the id of the hold and of the execution record. */
  readonly executionId: string;
  readonly caller: Caller;
  /** Path of the endpoint, as the record of the call shows it. */
  readonly endpoint: string;
  /** The run in which the call counts, if it names one. */
  readonly run?: RunOfCall;
  /** The caller's own id of the call, if it sent one. */
  readonly clientRequestId?: string;
  /** Calls with the same one stay with one route and one key of its provider. */
  readonly affinity?: string;
  /** As the caller sent it. */
  readonly body?: unknown;
  /** The bytes of the body. They count as memory in use until the call ends. */
  readonly countedBody?: Request['countedBody'];
  /** The response to the caller. It is aborted at the deadline of the call. */
  readonly response?: ServerResponse;
  /** Set where its answer is kept or it has an idempotency key. */
  readonly kept?: Pick<KeptCall, 'begin' | 'onEnd'>;
  /** Set where the call becomes a task. */
  readonly deferral?: Deferral;
  /** The request, for its line in the log and its trace. */
  readonly request?: Pick<Request, 'upstream' | 'traceParent' | 'span'>;
}

/**
 * Decorates the handler of an endpoint for this operation. The compiler rejects a handler whose first parameter is a
 * call of another operation.
 */
export type CallDecorator<O extends Operation> = <
  Handler extends (call: AdmittedCall<O>, ...rest: never[]) => unknown,
>(
  target: object,
  name: string | symbol,
  handler: TypedPropertyDescriptor<Handler>,
) => void;

/** The admitted call; for the handlers of paid endpoints. */
export const Call = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AdmittedCall => {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const {
      executionId,
      caller,
      admitted,
      clientRequestId,
      countedBody,
      run,
      keptCall: kept,
      deferral,
    } = request;
    assert(caller && admitted, 'Call needs the guards of a paid endpoint before it');
    const response = http.getResponse<Response>();
    const body: unknown = request.body;
    // The pattern, because the path may end with a slash.
    const { path: endpoint } = request.route as { readonly path: string };
    const call = {
      executionId,
      caller,
      endpoint,
      body,
      countedBody,
      response,
      request,
      ...(run && { run }),
      ...(kept && { kept }),
      ...(deferral && { deferral }),
      ...admitted,
    };
    return clientRequestId === undefined ? call : { clientRequestId, ...call };
  },
);
