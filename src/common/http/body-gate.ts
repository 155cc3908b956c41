import type { Request, Response } from 'express';
import type { GatewayError } from '../errors/gateway-error.js';

/** What comes: JSON, which is kept in memory, or a form, whose file goes to disk. */
export type BodyKind = 'json' | 'form';

/** Is told of the bytes of one body as they come. */
export interface BodyMeter {
  /** Returns the refusal when no more may come. */
  add(bytes: number): GatewayError | undefined;
}

/** Decides who may send a body, and how much of bodies the gateway takes at once. */
export abstract class BodyGate {
  /** Asked before the first byte is read. Throws the refusal. */
  abstract open(request: Request, response: Response, kind: BodyKind): Promise<BodyMeter>;
}
