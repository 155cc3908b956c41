import { boundDroppedBuffers } from './boot/dropped-buffers.js';
import { certainSandbox } from './boot/certain-sandbox.js';
import { keepObjectsYoung } from './boot/young-objects.js';
import { loadConfig } from './config/load-config.js';
import { withSecretKeys } from './config/secret-key-file.js';
import { readWorkerContext } from './config/worker-context.js';

/** Imports little itself: to import the gateway takes most of a start, and the sandbox starts meanwhile, in its thread. */
async function main(): Promise<void> {
  boundDroppedBuffers();
  keepObjectsYoung();
  const worker = readWorkerContext();
  const loaded = await withSecretKeys(loadConfig());
  const sandbox = worker ? undefined : certainSandbox(loaded);
  // Its failure is thrown where it is awaited.
  sandbox?.catch(() => undefined);
  const { serve } = await import('./boot/serve.js');
  await serve({ loaded, worker, sandbox });
}

main().catch(async (error: unknown) => {
  const { startFault } = await import('./boot/start-fault.js');
  process.stderr.write(`${startFault(error)}\n`);
  process.exit(1);
});
