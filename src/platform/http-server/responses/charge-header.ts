import type { Response } from 'express';
import { formatMicroUsd, type MicroUsd } from '../../../common/money/micro-usd.js';

/** Header that carries the charge of a synchronous call (API: Transcription response; decision G-28). */
export const CHARGE_HEADER = 'x-gateway-charge-microusd';

/** The value of a paid call, and its charge. */
export interface Charged<T> {
  readonly value: T;
  readonly chargedMicroUsd: MicroUsd;
}

/** Sets the charge header. */
export function setChargeHeader(response: Response, chargedMicroUsd: MicroUsd): void {
  response.setHeader(CHARGE_HEADER, formatMicroUsd(chargedMicroUsd));
}

/**
 * Sends the value of a call as JSON, with the charge header. If the call rejects, nothing is sent and its error is
 * thrown.
 */
export async function sendCharged(
  response: Response,
  call: Promise<Charged<object>>,
): Promise<void> {
  const { value, chargedMicroUsd } = await call;
  setChargeHeader(response, chargedMicroUsd);
  response.json(value);
}
