import { parentPort, workerData } from 'node:worker_threads';
import { SandboxServer } from './sandbox-server.js';

/** Thread entry: serves the sandbox until the parent says a word, and tells it the port. */
const server = new SandboxServer();
const { port } = workerData as { readonly port: number };
parentPort?.postMessage(await server.listen(port));
parentPort?.once('message', () => {
  void server.close().then(() => parentPort?.close());
});
