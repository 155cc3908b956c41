import type { Response } from 'express';

/** Header of every response of the sandbox, errors included (decision G-110). */
export const SANDBOX_HEADER = 'x-gateway-sandbox';

/** Sets or removes the header, unless the head has been sent. */
export function setSandboxHeader(
  response: Pick<Response, 'headersSent' | 'setHeader' | 'removeHeader'>,
  isSandbox: boolean,
): void {
  if (response.headersSent) return;
  if (isSandbox) response.setHeader(SANDBOX_HEADER, 'true');
  else response.removeHeader(SANDBOX_HEADER);
}
