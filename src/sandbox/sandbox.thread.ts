import { parentPort, workerData } from 'node:worker_threads';
import { SandboxServer } from './sandbox-server.js';

/** Thread entry: starts the sandbox, sends its port to the parent, and stops at the parent's first message. */
const server = new SandboxServer();
const { port } = workerData as { readonly port: number };
parentPort?.postMessage(await server.listen(port));
parentPort?.once('message', () => {
  void server.close().then(() => parentPort?.close());
});
