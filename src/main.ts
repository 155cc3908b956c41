// First, because a flag holds for what is evaluated after it.
import './bootstrap/v8-flags.js';
import { bootstrap } from './bootstrap/bootstrap.js';
import { startupError } from './bootstrap/startup-error.js';

bootstrap().catch((error: unknown) => {
  process.stderr.write(`${startupError(error)}\n`);
  process.exit(1);
});
