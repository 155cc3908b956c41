import type { Response } from 'express';
import { formatMicroUsd, type MicroUsd } from '../../../common/money/micro-usd.js';

/** Header that carries the charge of a synchronous call (API: Transcription response; decision G-28). */
export const CHARGE_HEADER = 'x-gateway-charge-microusd';

/** The answer of a paid call, and what it cost. */
export interface Charged<T> {
  readonly value: T;
  readonly chargedMicroUsd: MicroUsd;
}

/** Writes the charge into the head of an answer. */
export function setChargeHeader(response: Response, chargedMicroUsd: MicroUsd): void {
  response.setHeader(CHARGE_HEADER, formatMicroUsd(chargedMicroUsd));
}

/**
 * Sends the value as JSON, with its charge in the head. If the answer rejects, nothing is sent and the error is thrown.
 */
export async function sendCharged(
  response: Response,
  call: Promise<Charged<object>>,
): Promise<void> {
  const { value, chargedMicroUsd } = await call;
  setChargeHeader(response, chargedMicroUsd);
  response.json(value);
}
