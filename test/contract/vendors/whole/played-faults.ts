import type { ServerResponse } from 'node:http';

/** More than any answer may have. */
const PAD = 'a'.repeat(2_000_000);
const SLOW_PIECES = 10;
const SLOW_MS = 40;

/** What a vendor does in place of a whole answer; `slow` and `huge` are whole ones. */
export type VendorFault =
  'reset' | 'hold' | 'half' | 'page' | 'error' | 'gone' | 'slow' | 'huge' | 'keyless';

type FaultyAnswer = (response: ServerResponse, status: number, whole: Buffer) => unknown;

/** How each is answered. */
export const FAULTY_ANSWERS: Readonly<Record<VendorFault, FaultyAnswer>> = {
  reset: (response) => response.destroy(),
  /** No answer until the client or the server ends. */
  hold: () => undefined,
  half: (response, status, whole) => {
    response.writeHead(status, { 'content-length': whole.length });
    response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
  },
  page: (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  error: (response) => response.writeHead(500).end('<html>Sorry</html>'),
  gone: (response) => response.writeHead(404).end(),
  keyless: (response) => response.writeHead(200).end('{}'),
  slow: (response, status, whole) => drip(response.writeHead(status), whole),
  huge: (response, status, whole) =>
    response.writeHead(status).end(`{"pad":"${PAD}",${whole.toString().slice(1)}`),
};

async function drip(response: ServerResponse, whole: Buffer): Promise<void> {
  const size = Math.ceil(whole.length / SLOW_PIECES);
  for (let at = 0; at < whole.length; at += size) {
    response.write(whole.subarray(at, at + size));
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  }
  response.end();
}
