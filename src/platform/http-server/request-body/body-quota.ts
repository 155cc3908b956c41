import type { Request, Response } from 'express';
import type { GatewayError } from '../../../common/errors/gateway-error.js';

/** The kind of body: JSON and a form of texts are kept in memory; the file of a form is written to disk. */
export type BodyKind = 'json' | 'text-form' | 'form';

/** Is called with the number of bytes of one body as they arrive. */
export interface BodyMeter {
  /** Returns the refusal when no more bytes are accepted. */
  add(bytes: number): GatewayError | undefined;
}

/** Decides who may send a body, and how many bytes of bodies the gateway accepts at once. */
export abstract class BodyQuota {
  /** Called before the first byte is read. Throws the refusal. */
  abstract open(request: Request, response: Response, kind: BodyKind): Promise<BodyMeter>;
}
