// First, because a flag holds for what is evaluated after it.
import './boot/v8-flags.js';
import { serve } from './boot/serve.js';
import { startFault } from './boot/start-fault.js';

serve().catch((error: unknown) => {
  process.stderr.write(`${startFault(error)}\n`);
  process.exit(1);
});
