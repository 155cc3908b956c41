import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wavFile } from '../media/wav-file.js';

const RATE_HZ = 8_000;
/** 12.34 s, which bill as 13 s. */
const RECORDING = wavFile(12.34 * RATE_HZ, RATE_HZ);

/** Where callers keep a recording of 12.34 s. */
export interface RecordingServer {
  readonly url: string;
  /** What opens it to a gateway that keeps away from private addresses. */
  readonly settings: { readonly EGRESS_ALLOW: string };
  stop(): Promise<void>;
}

/** Serves the recording under every path. */
export async function startRecordingServer(): Promise<RecordingServer> {
  const server = createServer((_request, response) => {
    response.end(RECORDING);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/recording.wav`,
    settings: { EGRESS_ALLOW: host },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
