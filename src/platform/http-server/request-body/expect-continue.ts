import type { IncomingMessage, ServerResponse } from 'node:http';

const expecting = new WeakMap<IncomingMessage, ServerResponse>();

/** Notes that the client waits for permission to send its body (`Expect: 100-continue`). */
export function noteExpectContinue(request: IncomingMessage, response: ServerResponse): void {
  expecting.set(request, response);
}

/** Permits the client to send its body. A client that is rejected earlier never sends it. */
export function sendContinue(request: IncomingMessage): void {
  const response = expecting.get(request);
  if (response === undefined) return;
  expecting.delete(request);
  if (!response.headersSent) response.writeContinue();
}
