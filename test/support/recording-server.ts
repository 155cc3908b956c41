import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wavFile } from '../media/wav-file.js';

const RATE_HZ = 8_000;
/** Bills as 13 s. */
const SECONDS = 12.34;

/** Where callers keep a recording. */
export interface RecordingServer {
  readonly url: string;
  /** The `EGRESS_ALLOW` value with which a gateway reaches it. */
  readonly settings: { readonly EGRESS_ALLOW: string };
  stop(): Promise<void>;
}

/** Serves a recording of that length, 12.34 s unless told otherwise, under every path. */
export async function startRecordingServer(seconds = SECONDS): Promise<RecordingServer> {
  const recording = wavFile(seconds * RATE_HZ, RATE_HZ);
  const server = createServer((_request, response) => {
    response.end(recording);
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
