import { boundDroppedBuffers } from './boot/dropped-buffers.js';
import { startSandboxEarly } from './boot/early-sandbox.js';
import { mapOwnSources } from './boot/own-source-maps.js';
import { keepObjectsYoung } from './boot/young-objects.js';
import { loadConfig } from './config/load-config.js';
import { withSecretKeys } from './config/secret-key-file.js';
import { readWorkerContext } from './config/worker-context.js';

/** This module imports little: importing the gateway takes most of a start, and meanwhile the sandbox starts in its thread. */
async function main(): Promise<void> {
  mapOwnSources();
  boundDroppedBuffers();
  keepObjectsYoung();
  const worker = readWorkerContext();
  const loaded = await withSecretKeys(loadConfig());
  const sandbox = startSandboxEarly(loaded, worker);
  const { serve } = await import('./boot/serve.js');
  await serve({ loaded, worker, sandbox });
}

main().catch(async (error: unknown) => {
  const { startFault } = await import('./boot/start-fault.js');
  process.stderr.write(`${startFault(error)}\n`);
  process.exit(1);
});
