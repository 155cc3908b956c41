import type { IncomingMessage, ServerResponse } from 'node:http';

const expecting = new WeakMap<IncomingMessage, ServerResponse>();

/** Notes that the client sends its body only once it is told to (`Expect: 100-continue`). */
export function noteExpectation(request: IncomingMessage, response: ServerResponse): void {
  expecting.set(request, response);
}

/** Lets a body come that is about to be read: whoever is refused before is never asked for it. */
export function askForBody(request: IncomingMessage): void {
  const response = expecting.get(request);
  if (response === undefined) return;
  expecting.delete(request);
  if (!response.headersSent) response.writeContinue();
}
