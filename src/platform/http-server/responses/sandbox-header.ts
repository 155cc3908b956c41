import type { Response } from 'express';

/** Header of every answer that the sandbox made, errors included (decision G-110). */
export const SANDBOX_HEADER = 'x-gateway-sandbox';

/** Writes into the head of an answer, unless it has been sent, whether the sandbox made it. */
export function setSandboxHeader(
  response: Pick<Response, 'headersSent' | 'setHeader' | 'removeHeader'>,
  isSandbox: boolean,
): void {
  if (response.headersSent) return;
  if (isSandbox) response.setHeader(SANDBOX_HEADER, 'true');
  else response.removeHeader(SANDBOX_HEADER);
}
